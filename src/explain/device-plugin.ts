import type { NodeState } from '../cluster/node-state.ts';
import { gpuResource } from '../policy/resources.ts';
import { type Facts, hasNoNode, kubectl, listed, takenOn, unitsIn } from './facts.ts';
import type { Reason, Seen } from './result.ts';
import { stackLines } from './stack.ts';

/** Layer 4: what nodes advertise of the pod's resources, and what a device plugin said when the pod came to its node. */
export function devicePlugin(facts: Facts): Seen {
  const { nodes, needs, claimed } = facts;
  const reasons = pluginRefusal(facts);
  if (needs.size === 0 && claimed.length === 0) return { seen: ['nothing is asked of a device plugin'], reasons };
  if (nodes === undefined) return { seen: ['nodes may not be listed by you'], reasons, unknown: true };
  if (claimed.length > 0) {
    const seen = [`${claimed.join(', ')}: no node advertises it, the scheduler allocates it by a resource claim`];
    return { seen, reasons, unknown: reasons.length === 0, next: kubectl('get resourceclaims', facts.namespace) };
  }
  const seen = [...needs.keys()].map((resource) => offerLine(facts, resource));
  const lacking = [...needs.keys()].some((name) => !facts.reachable.some((node) => advertises(node, name)));
  return {
    seen: [...seen, ...stackLines(facts, 'plugin')],
    reasons,
    // That nobody advertises it can't keep a pod that is past it, and where there is no node nobody could.
    problem: lacking && facts.reachable.length > 0 && hasNoNode(facts),
    unknown: lacking,
    next: 'kubectl describe nodes',
  };
}

/** What the nodes that the pod may go to have of a resource, the freest first. */
function offerLine({ reachable, holders, view }: Facts, resource: string): string {
  const offers = reachable
    .filter((node) => advertises(node, resource))
    .map((node) => {
      const has = unitsIn(node.allocatable, resource);
      const { units } = takenOn(node, resource, holders ?? []);
      return { name: node.name, has, free: has > units ? has - units : 0n };
    })
    .sort((a, b) => Number(b.free - a.free));
  if (offers.length === 0 && view.nodeName !== undefined) return `node ${view.nodeName} does not advertise ${resource}`;
  if (offers.length === 0) return `no node that it may go to advertises ${resource}`;
  const told = offers.map(({ name, has, free }) => `${name} ${holders ? `${free} of ${has} free` : String(has)}`);
  return `${resource}: ${listed(told)}`;
}

function advertises({ allocatable }: NodeState, resource: string): boolean {
  return Object.hasOwn(allocatable, resource);
}

/** A pod that the kubelet did not admit has failed; it does not wait (kubelet's UnexpectedAdmissionError, OutOf<resource>). */
function pluginRefusal({ state, status, subject, namespace, gpuResources }: Facts): readonly Reason[] {
  const { reason, message } = status;
  if (state !== 'failed' || typeof reason !== 'string') return [];
  const [, short] = /^OutOf(.+)$/.exec(reason) ?? [];
  if (short === undefined && reason !== 'UnexpectedAdmissionError') return [];
  const other = short !== undefined && !gpuResource(short, gpuResources);
  const text = `the kubelet did not admit the pod: ${reason}: ${String(message ?? '')}`;
  const next = kubectl(`describe ${subject}`, namespace);
  return [{ code: other ? 'other-resource' : 'refused-by-plugin', text, next }];
}
