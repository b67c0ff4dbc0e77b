import { type Facts, listed } from './facts.ts';
import type { Holder } from './input.ts';
import type { Reason } from './result.ts';

/** Units of a resource on a node: how many there are, how many are free, and who holds the others. */
export interface Taken {
  readonly resource: string;
  readonly has: bigint;
  readonly free: bigint;
  readonly by: readonly Holder[];
}

export function takenReason(facts: Facts, { resource, has, free, by }: Taken, node: string): Reason {
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
