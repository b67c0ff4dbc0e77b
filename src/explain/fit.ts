import { tolerates } from '../admission/placement.ts';
import type { NodeState, Taint } from '../cluster/node-state.ts';
import { type Facts, takenOn, unitsIn } from './facts.ts';
import type { Taken } from './taken.ts';

/** What keeps the pod from one node that it may go to and that has enough GPUs. */
export type Blocker =
  | { readonly kind: 'not-ready'; readonly why: string }
  | { readonly kind: 'cordoned' }
  | { readonly kind: 'taint'; readonly taint: Taint }
  | ({ readonly kind: 'taken' } & Taken);

/** Taints that Kubernetes itself sets for what is told in a better way (TaintNodesByCondition, kubectl cordon). */
const CORDON = 'node.kubernetes.io/unschedulable';
const NOT_READY = ['node.kubernetes.io/not-ready', 'node.kubernetes.io/unreachable'];

export function blockersOf(facts: Facts, node: NodeState): readonly Blocker[] {
  const found: Blocker[] = [];
  const ready = node.conditions.find(({ type }) => type === 'Ready');
  const untolerated = node.taints.filter((taint) => stopsScheduling(taint) && !toleratesTaint(facts, taint));
  const downTaint = untolerated.find(({ key }) => NOT_READY.includes(key));
  // A node whose Ready condition is False and that has no taint is still scheduled to.
  if (downTaint) found.push({ kind: 'not-ready', why: ready?.message || ready?.reason || downTaint.key });
  const cordon = { key: CORDON, effect: 'NoSchedule' };
  if (node.unschedulable && !toleratesTaint(facts, cordon)) found.push({ kind: 'cordoned' });
  for (const taint of untolerated) {
    if (taint.key !== CORDON && taint !== downTaint) found.push({ kind: 'taint', taint });
  }
  for (const [resource, need] of facts.needs) {
    const has = unitsIn(node.allocatable, resource);
    const { units, by } = takenOn(node, resource, facts.holders ?? []);
    const free = has > units ? has - units : 0n;
    if (free < need) found.push({ kind: 'taken', resource, has, free, by });
  }
  return found;
}

/** Whether the node has enough GPUs for the pod, taken or not. */
export function hasEnough({ needs }: Facts, { allocatable }: NodeState): boolean {
  return [...needs].every(([resource, need]) => unitsIn(allocatable, resource) >= need);
}

function stopsScheduling({ effect }: Taint): boolean {
  return effect === 'NoSchedule' || effect === 'NoExecute';
}

function toleratesTaint({ view }: Facts, { key, value = '', effect }: Taint): boolean {
  return tolerates(view, { key, operator: 'Equal', value, effect: effect as 'NoSchedule' | 'NoExecute' });
}

/** `nvidia.com/gpu=present:NoSchedule` */
export function taintText({ key, value, effect }: Taint): string {
  return `${key}${value ? `=${value}` : ''}:${effect}`;
}
