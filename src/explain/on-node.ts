import { type Facts, listed, takenOn, unitsIn } from './facts.ts';
import type { Reason } from './result.ts';
import { takenReason } from './taken.ts';

/**
 * What keeps a pod from starting on the node that it is on. One that names its node itself never saw a scheduler, so that nobody
 * looked whether the node is there, and has what the pod takes.
 */
export function nodeReasons(facts: Facts): readonly Reason[] {
  const { state, nodes, view, byItself, needs } = facts;
  if (state !== 'starting' || nodes === undefined) return [];
  const node = nodes.find(({ name }) => name === view.nodeName);
  if (!node) {
    const text = `there is no node ${view.nodeName}, so no kubelet starts the pod`;
    return [{ code: 'no-such-node', text, next: 'kubectl get nodes' }];
  }
  const next = `kubectl describe node ${node.name}`;
  const down = whyDown(facts);
  const reasons: Reason[] = [];
  if (down !== undefined)
    reasons.push({ code: 'node-not-ready', text: `node ${node.name} is not ready: ${down}`, next });
  if (!byItself) return reasons;
  // The kubelet passes over resources that its node does not know (pkg/kubelet/lifecycle/predicate.go, removeMissingExtendedResources).
  const absent = [...needs.keys()].filter((name) => !Object.hasOwn(node.allocatable, name));
  if (absent.length > 0) {
    const text = `node ${node.name} does not advertise ${listed(absent)}: its kubelet starts the pod without it`;
    reasons.push({ code: 'no-node-offers', text, next });
  }
  for (const [resource, need] of needs) {
    if (absent.includes(resource)) continue;
    const has = unitsIn(node.allocatable, resource);
    const { units, by } = takenOn(node, resource, facts.others);
    const free = has > units ? has - units : 0n;
    if (has < need) {
      const text = `the pod takes ${need} ${resource}, and node ${node.name} has ${has}`;
      reasons.push({ code: 'more-than-a-node-has', text, next });
    } else if (free < need) reasons.push(takenReason(facts, { resource, has, free, by }, node.name));
  }
  return reasons;
}

/** Why the node that the pod is on is not ready; undefined where it is, or where that is not known. */
export function whyDown({ nodes = [], view }: Facts): string | undefined {
  const node = nodes.find(({ name }) => name === view.nodeName);
  const ready = node?.conditions.find(({ type }) => type === 'Ready');
  return ready && ready.status !== 'True' ? ready.message || ready.reason || `Ready is ${ready.status}` : undefined;
}
