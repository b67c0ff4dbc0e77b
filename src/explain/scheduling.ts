import { closest, distance } from 'fastest-levenshtein';
import type { NodeState } from '../cluster/node-state.ts';
import { gpuResource } from '../policy/resources.ts';
import { missingClaims } from './claims.ts';
import { counted, type Facts, isWaiting, kubectl, listed, scheduledCondition, unitsIn } from './facts.ts';
import { type Blocker, blockersOf, hasEnough, taintText } from './fit.ts';
import { type Layout, layoutsUnderWay } from './layouts.ts';
import type { Reason, ReasonCode } from './result.ts';
import { type SchedulerReason, schedulerReasons } from './scheduler-message.ts';
import { takenReason } from './taken.ts';
import { whyUnreached } from './where.ts';

/**
 * Why no node takes a pod that waits for one. It goes from what rules out every node to what rules out single ones, and stops at
 * the first that explains it: a taint on a node that has no such GPU is no reason. What the scheduler alone knows (cpu, volumes,
 * other pods) counts where GPUs alone would let the pod in.
 */
export function schedulingReasons(facts: Facts): readonly Reason[] {
  if (!isWaiting(facts)) return [];
  const unclaimed = missingClaims(facts);
  if (unclaimed.length > 0) return unclaimed;
  if (facts.nodes === undefined) return schedulerAlone(facts);
  if (facts.nodes.length === 0) return [nothingOffers(facts, [...facts.needs.keys()][0] ?? '')];
  const ofPod = schedulerSays(facts, ({ code, nodes }) => nodes === undefined && APART.has(code));
  if (facts.reachable.length === 0) return [...whyUnreached(facts, facts.nodes), ...ofPod];
  const offering = facts.reachable.filter((node) => hasEnough(facts, node));
  if (offering.length === 0) {
    const reasons = [...facts.needs].flatMap(([name, need]) => whyNotOffered(facts, name, need));
    return [...(reasons.length > 0 ? reasons : [notTogether(facts)]), ...ofPod];
  }
  const blocked = offering.map((node) => ({ node, blockers: blockersOf(facts, node) }));
  if (blocked.some(({ blockers }) => blockers.length === 0)) return schedulerAlone(facts);
  return [...blockerReasons(facts, blocked), ...schedulerSays(facts, ({ code }) => APART.has(code))];
}

/** What keeps the pod whatever becomes of its GPUs. */
const APART: ReadonlySet<ReasonCode> = new Set(['volume', 'claim']);

/** What the scheduler says, where nothing that gpugate sees of GPUs explains it, or where the pod has none. */
function schedulerAlone(facts: Facts): readonly Reason[] {
  // What it says of these is of other nodes, or of an earlier moment: those that are left would let the pod in.
  const outdated = new Set<ReasonCode>(facts.nodes ? ['taint', 'cordoned', 'node-selector'] : []);
  if (facts.nodes && facts.needs.size > 0 && facts.holders && !facts.holdersOfNamespaceOnly) outdated.add('taken');
  // Nodes that the pod does not want tell nothing while others are left that it would go to.
  if (conditionReasons(facts).some(({ code }) => code !== 'node-selector')) outdated.add('node-selector');
  return schedulerSays(facts, ({ code }) => !outdated.has(code));
}

/** Those of the scheduler's own words that count. */
function schedulerSays(facts: Facts, counts: (reason: SchedulerReason) => boolean): readonly Reason[] {
  const next = kubectl(`describe ${facts.subject}`, facts.namespace);
  return conditionReasons(facts)
    .filter(counts)
    .map(({ code, text, nodes: count }) => ({
      code,
      text: `the scheduler says of ${count === undefined ? 'the pod' : counted(count, 'node')}: ${text}`,
      next: code === 'volume' ? kubectl('get persistentvolumeclaims', facts.namespace) : next,
    }));
}

function conditionReasons({ status, gpuResources }: Facts): readonly SchedulerReason[] {
  const condition = scheduledCondition(status);
  return condition?.status === 'False' ? schedulerReasons(String(condition.message ?? ''), gpuResources) : [];
}

/** No node that the pod may go to has so many units of the resource. */
function whyNotOffered(facts: Facts, resource: string, need: bigint): readonly Reason[] {
  const { reachable, nodes = [] } = facts;
  const most = reachable.reduce((max, node) => bigger(max, unitsIn(node.allocatable, resource)), 0n);
  if (most >= need) return [];
  const layouts = layoutsUnderWay(reachable, resource);
  if (layouts.length > 0) return layouts.map(layoutReason);
  const unhealthy = reachable.filter(({ capacity }) => unitsIn(capacity, resource) > 0n);
  if (most === 0n && unhealthy.length > 0) return [noneHealthy(unhealthy, resource)];
  const elsewhere = nodes.filter((node) => unitsIn(node.allocatable, resource) >= need);
  const kept = elsewhere.length > 0 ? whyUnreached(facts, elsewhere) : [];
  const also = kept.map((reason) => `; ${reason.text}`).join('');
  if (most > 0n) {
    const where = reachable.length === nodes.length ? 'the largest node' : 'the largest node that it may go to';
    const text = `the pod takes ${need} ${resource}, and ${where} has ${most}${also}`;
    return [{ code: 'more-than-a-node-has', text, next: 'kubectl describe nodes' }];
  }
  const others = otherNames(reachable, facts.gpuResources, resource);
  if (others.length > 0) {
    const text = `${noNode(facts)} offers ${resource}; there are GPUs under other names, ${listed(others, 3)}${also}`;
    return [{ code: 'other-name', text, next: `gpugate explain namespace ${facts.namespace}` }];
  }
  const advertised = reachable.filter(({ allocatable }) => Object.hasOwn(allocatable, resource));
  if (advertised.length > 0) return [pluginGone(advertised, resource)];
  return kept.length > 0 ? kept : [nothingOffers(facts, resource)];
}

/** Some node has enough of each resource, and none of all. */
function notTogether({ needs }: Facts): Reason {
  const parts = [...needs].map(([name, units]) => `${units} ${name}`).join(' and ');
  const text = `the pod takes ${parts}, and no node has ${needs.size === 2 ? 'both' : 'all of them'}`;
  return { code: 'more-than-a-node-has', text, next: 'kubectl describe nodes' };
}

function bigger(a: bigint, b: bigint): bigint {
  return a > b ? a : b;
}

function layoutReason({ node, config, state }: Layout): Reason {
  const wanted = config === '' ? 'its MIG layout' : `the MIG layout ${config}`;
  const text =
    state === 'failed'
      ? `${wanted} of node ${node.name} has failed (nvidia.com/mig.config.state), so the node lacks its slices`
      : `${wanted} of node ${node.name} is still \`${state}\` (nvidia.com/mig.config.state), so its slices are not there yet`;
  const next =
    state === 'failed'
      ? `kubectl describe node ${node.name}`
      : `kubectl get node ${node.name} -L nvidia.com/mig.config,nvidia.com/mig.config.state -w`;
  return { code: 'mig-layout', text, next };
}

function noneHealthy(nodes: readonly NodeState[], resource: string): Reason {
  const names = nodes.map(({ name, capacity }) => `${name} (${unitsIn(capacity, resource)} there, 0 healthy)`);
  return {
    code: 'unhealthy-gpus',
    text: `every ${resource} is marked unhealthy by the device plugin: ${listed(names, 3)}`,
    next: `kubectl describe node ${nodes[0]?.name}`,
  };
}

function pluginGone(nodes: readonly NodeState[], resource: string): Reason {
  return {
    code: 'none-left-of-the-plugin',
    text: `${listed(nodes.map(({ name }) => name))} ${nodes.length === 1 ? 'advertises' : 'advertise'} ${resource} with 0 of it: its device plugin is not running, or the GPUs have another name now`,
    next: `kubectl get pods -A --field-selector spec.nodeName=${nodes[0]?.name}`,
  };
}

function nothingOffers(facts: Facts, resource: string): Reason {
  const { nodes = [], reachable, gpuResources } = facts;
  const next = 'kubectl get nodes';
  if (nodes.length === 0) return { code: 'no-node-offers', text: 'the cluster has no node', next };
  const foreign = offered(reachable, gpuResources, (name) => name !== resource);
  const text =
    foreign.length > 0
      ? `${noNode(facts)} offers ${resource}; there are GPUs of other vendors, ${listed(foreign.map(placesText), 3)}`
      : `${noNode(facts)} offers ${resource}, nor any other GPU: they come with an autoscaler, or no device plugin runs`;
  return { code: 'no-node-offers', text, next };
}

function noNode({ nodes = [], reachable }: Facts): string {
  return reachable.length === nodes.length ? 'no node' : 'no node that the pod may go to';
}

/** `nvidia.com/gpu.shared (4 on a10)`, the nearest name first. Only of the same vendor: another's GPU is not the one that is meant. */
function otherNames(nodes: readonly NodeState[], extra: readonly string[], resource: string): readonly string[] {
  const vendor = gpuResource(resource, extra)?.vendor;
  const found = offered(nodes, extra, (name) => gpuResource(name, extra)?.vendor === vendor);
  if (found.length === 0) return [];
  const near = closest(
    resource,
    found.map(([name]) => name),
  );
  const rank = (name: string) => (name === near ? -1 : distance(resource, name));
  return found.sort(([a], [b]) => rank(a) - rank(b)).map(placesText);
}

/** Resources that count as GPUs and that `counts` takes, with how many of each are on which node. */
function offered(
  nodes: readonly NodeState[],
  extra: readonly string[],
  counts: (name: string) => boolean,
): [string, string[]][] {
  const found = new Map<string, string[]>();
  for (const { name: node, allocatable } of nodes) {
    for (const name of Object.keys(allocatable)) {
      const units = unitsIn(allocatable, name);
      if (units === 0n || !gpuResource(name, extra) || !counts(name)) continue;
      found.set(name, [...(found.get(name) ?? []), `${units} on ${node}`]);
    }
  }
  return [...found];
}

function placesText([name, places]: readonly [string, readonly string[]]): string {
  return `${name} (${listed(places, 2)})`;
}

/** Every node with enough GPUs keeps the pod off. Those that are nearest to taking it are spoken of first. */
function blockerReasons(
  facts: Facts,
  blocked: readonly { readonly node: NodeState; readonly blockers: readonly Blocker[] }[],
): readonly Reason[] {
  const reasons = new Map<string, { readonly reason: (nodes: readonly string[]) => Reason; nodes: string[] }>();
  for (const { node, blockers } of blocked.toSorted((a, b) => a.blockers.length - b.blockers.length)) {
    for (const blocker of blockers) {
      const key = blocker.kind === 'taint' ? taintText(blocker.taint) : blocker.kind === 'cordoned' ? '' : node.name;
      const of = `${blocker.kind} ${key}`;
      const entry = reasons.get(of) ?? { reason: (names) => blockerReason(facts, blocker, names), nodes: [] };
      entry.nodes.push(node.name);
      reasons.set(of, entry);
    }
  }
  return [...reasons.values()].map(({ reason, nodes }) => reason(nodes));
}

function blockerReason(facts: Facts, blocker: Blocker, nodes: readonly string[]): Reason {
  const names = listed(nodes);
  const first = nodes[0] ?? '';
  switch (blocker.kind) {
    case 'not-ready':
      return {
        code: 'node-not-ready',
        text: `node ${names} is not ready: ${blocker.why}`,
        next: `kubectl describe node ${first}`,
      };
    case 'cordoned':
      return {
        code: 'cordoned',
        text: `node ${names} ${nodes.length === 1 ? 'is' : 'are'} cordoned (unschedulable)`,
        next: `kubectl uncordon ${first}`,
      };
    case 'taint':
      return {
        code: 'taint',
        text: `node ${names} has the taint ${taintText(blocker.taint)} without toleration in the pod`,
        next: `kubectl get node ${first} -o jsonpath='{.spec.taints}'`,
      };
    case 'taken':
      return takenReason(facts, blocker, first);
  }
}
