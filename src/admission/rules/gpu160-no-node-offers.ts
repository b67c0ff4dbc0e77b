import { closest, distance } from 'fastest-levenshtein';
import type { Rule } from '../context.ts';
import type { Finding } from '../findings.ts';
import { inventoryOf } from '../inventory.ts';
import { fieldPath } from '../pod.ts';
import { totalsByResource } from '../totals.ts';

/**
 * GPU160: no node offers the resource that the pod ends up with, or none in this quantity. Only a warning, since nodes come and
 * go; silent where no node offers any GPU (they come on demand), where the policy says so, and where a DeviceClass serves the
 * name by DRA. Free capacity is the scheduler's matter.
 */
export const noNodeOffers: Rule = {
  needs: 'policy',
  check(context, tell) {
    const { snapshot, policy, pod } = context;
    if (policy.nodesOnDemand || !context.whole) return;
    const { largest } = inventoryOf(snapshot.nodes, snapshot.gpuResources);
    if (largest.size === 0) return;
    for (const [resource, total] of totalsByResource(context)) {
      if (total === 0n || snapshot.deviceClassResources?.has(resource)) continue;
      const most = largest.get(resource);
      if (most !== undefined && most >= total) continue;
      tell({
        code: 'GPU160',
        severity: 'warning',
        field: fieldPath([...pod.path, 'spec']),
        value: resource,
        ...told(resource, total, most, offered(largest)),
      });
    }
  },
};

/** Names with units behind them; one that a device plugin gave up stays behind with zero. */
function offered(largest: ReadonlyMap<string, bigint>): readonly string[] {
  return [...largest].filter(([, units]) => units > 0n).map(([name]) => name);
}

function told(
  resource: string,
  total: bigint,
  most: bigint | undefined,
  others: readonly string[],
): Pick<Finding, 'message' | 'fix'> {
  if (most === undefined) {
    return {
      message: `no node offers ${resource}${nearest(resource, others)}.`,
      fix: 'The pod stays Pending until one does; an autoscaler may not know the name.',
    };
  }
  if (most === 0n) {
    return {
      message: `every node that advertises ${resource} has 0 of it${nearest(resource, others)}.`,
      fix: 'Look at the device plugin on the nodes; until it is well the pod stays Pending.',
    };
  }
  return {
    message: `the pod takes ${total} ${resource}, and the largest node has ${most}.`,
    fix: `Ask for at most ${most} in one pod.`,
  };
}

/** What the nodes offer instead, as the end of a sentence; the nearest name comes first. */
function nearest(resource: string, others: readonly string[]): string {
  if (others.length === 0) return '';
  const near = closest(resource, others);
  const rest = others.filter((name) => name !== near).sort((a, b) => distance(resource, a) - distance(resource, b));
  const more = rest.length > 3 ? ', ...' : '';
  return `; nodes offer ${rest.length === 0 ? 'only ' : ''}${[near, ...rest.slice(0, 3)].join(', ')}${more}`;
}
