import { closest, distance } from 'fastest-levenshtein';
import type { NodeState } from '../cluster/node-state.ts';
import { gpuResource } from '../policy/resources.ts';
import { counted, type Facts, isWaiting, kubectl, listed, unitsIn } from './facts.ts';
import { type Blocker, blockersOf, hasEnough, taintText } from './fit.ts';
import type { Holder } from './input.ts';
import { type Layout, layoutsUnderWay } from './layouts.ts';
import type { Reason } from './result.ts';
import { schedulerReasons } from './scheduler-message.ts';
import { whyUnreached } from './where.ts';

/**
 * Why no node takes a pod that waits for one. It goes from what rules out every node to what rules out single ones, and stops at
 * the first that explains it: a taint on a node that has no such GPU is no reason. What the scheduler alone knows (cpu, volumes,
 * other pods) counts where GPUs alone would let the pod in.
 */
export function schedulingReasons(facts: Facts): readonly Reason[] {
  if (!isWaiting(facts)) return [];
  if (facts.nodes === undefined) return schedulerAlone(facts);
  if (facts.nodes.length === 0) return [nothingOffers(facts, [...facts.needs.keys()][0] ?? '')];
  if (facts.reachable.length === 0) return whyUnreached(facts, facts.nodes);
  const offering = facts.reachable.filter((node) => hasEnough(facts, node));
  if (offering.length === 0) return [...facts.needs].flatMap(([name, need]) => whyNotOffered(facts, name, need));
  const blocked = offering.map((node) => ({ node, blockers: blockersOf(facts, node) }));
  if (blocked.some(({ blockers }) => blockers.length === 0)) return schedulerAlone(facts);
  return blockerReasons(facts, blocked);
}

/** What the scheduler says, where nothing that gpugate sees of GPUs explains it, or where the pod has none. */
function schedulerAlone(facts: Facts): readonly Reason[] {
  // What it says of these is of other nodes, or of an earlier moment: those that are left would let the pod in.
  const outdated = new Set(facts.nodes ? ['taint', 'cordoned', 'node-selector'] : []);
  if (facts.nodes && facts.needs.size > 0 && facts.holders && !facts.holdersOfNamespaceOnly) outdated.add('taken');
  const next = kubectl(`describe ${facts.subject}`, facts.namespace);
  const told = conditionReasons(facts);
  // Nodes that the pod does not want tell nothing while others are left that it would go to.
  if (told.some(({ code }) => code !== 'node-selector')) outdated.add('node-selector');
  return told
    .filter(({ code }) => !outdated.has(code))
    .map(({ code, text, nodes: count }) => ({
      code,
      text: `the scheduler says of ${count === undefined ? 'the pod' : counted(count, 'node')}: ${text}`,
      next: code === 'volume' ? kubectl('get persistentvolumeclaims', facts.namespace) : next,
    }));
}

function conditionReasons({ status, gpuResources }: Facts) {
  const condition = scheduledCondition(status);
  return condition?.status === 'False' ? schedulerReasons(String(condition.message ?? ''), gpuResources) : [];
}

/** The PodScheduled condition. */
export function scheduledCondition(status: Facts['status']): Readonly<Record<string, unknown>> | undefined {
  const conditions = Array.isArray(status.conditions) ? status.conditions : [];
  return conditions.find((condition) => condition?.type === 'PodScheduled');
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
  const others = most === 0n ? otherNames(reachable, facts.gpuResources, resource) : [];
  if (others.length > 0) {
    const where = reachable.length === nodes.length ? 'no node' : 'no node that the pod may go to';
    const text = `${where} offers ${resource}: the GPU exists under another name, ${listed(others, 3)}`;
    const also = kept.map((reason) => `; ${reason.text}`).join('');
    return [{ code: 'other-name', text: text + also, next: `gpugate explain namespace ${facts.namespace}` }];
  }
  const advertised = reachable.filter(({ allocatable }) => Object.hasOwn(allocatable, resource));
  if (most === 0n && advertised.length > 0) return [pluginGone(advertised, resource)];
  if (kept.length > 0) return kept;
  if (most === 0n) return [nothingOffers(facts, resource)];
  const where = reachable.length === nodes.length ? 'the largest node' : 'the largest node that it may go to';
  const text = `the pod takes ${need} ${resource}, and ${where} has ${most}`;
  return [{ code: 'more-than-a-node-has', text, next: 'kubectl describe nodes' }];
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

function nothingOffers({ nodes = [] }: Facts, resource: string): Reason {
  const text =
    nodes.length === 0
      ? 'the cluster has no node'
      : `no node offers ${resource}, nor any other GPU: they come with an autoscaler, or no device plugin runs`;
  return { code: 'no-node-offers', text, next: 'kubectl get nodes' };
}

/** `nvidia.com/gpu.shared (4 on a10)`, the nearest name first. */
function otherNames(nodes: readonly NodeState[], extra: readonly string[], resource: string): readonly string[] {
  const found = new Map<string, string[]>();
  for (const { name: node, allocatable } of nodes) {
    for (const name of Object.keys(allocatable)) {
      const units = unitsIn(allocatable, name);
      if (units === 0n || !gpuResource(name, extra)) continue;
      found.set(name, [...(found.get(name) ?? []), `${units} on ${node}`]);
    }
  }
  if (found.size === 0) return [];
  const near = closest(resource, [...found.keys()]);
  const rank = (name: string) => (name === near ? -1 : distance(resource, name));
  return [...found].sort(([a], [b]) => rank(a) - rank(b)).map(([name, places]) => `${name} (${listed(places, 2)})`);
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

function takenReason(facts: Facts, { resource, has, free, by }: Blocker & { kind: 'taken' }, node: string): Reason {
  const need = facts.needs.get(resource) ?? 0n;
  const named = (holder: Holder) => `${holder.namespace}/${holder.name} (${holder.units.get(resource)})`;
  const own = facts.holdersOfNamespaceOnly;
  const others = own ? 'pods of other namespaces, which you may not list' : 'no pod that is listed';
  const who = by.length === 0 ? others : `${listed(by.map(named))}${own ? ' and maybe pods of other namespaces' : ''}`;
  const text =
    free === 0n
      ? `${has === 1n ? 'the one unit' : `all ${has} units`} of ${resource} on ${node} ${has === 1n ? 'is' : 'are'} taken by ${who}`
      : `${free} of ${has} ${resource} on ${node} ${free === 1n ? 'is' : 'are'} free, and the pod takes ${need}; the others are taken by ${who}`;
  return { code: 'taken', text, next: `kubectl describe node ${node}` };
}
