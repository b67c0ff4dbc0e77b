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
  *check(context) {
    const { snapshot, policy, pod } = context;
    if (policy.nodesOnDemand || !context.whole) return;
    const { largest } = inventoryOf(snapshot.nodes, snapshot.gpuResources);
    if (largest.size === 0) return;
    for (const [resource, total] of totalsByResource(context)) {
      if (total === 0n || snapshot.deviceClassResources?.has(resource)) continue;
      const most = largest.get(resource);
      if (most !== undefined && most >= total) continue;
      yield {
        code: 'GPU160',
        severity: 'warning',
        field: fieldPath([...pod.path, 'spec']),
        value: resource,
        ...told(resource, total, most, [...largest.keys()]),
      };
    }
  },
};

function told(
  resource: string,
  total: bigint,
  most: bigint | undefined,
  offered: readonly string[],
): Pick<Finding, 'message' | 'fix'> {
  if (most === undefined) {
    const near = closest(resource, offered);
    const others = [
      near,
      ...offered.filter((name) => name !== near).sort((a, b) => distance(resource, a) - distance(resource, b)),
    ];
    return {
      message: `no node offers ${resource}; nodes offer ${others.length === 1 ? 'only ' : ''}${others.slice(0, 4).join(', ')}${others.length > 4 ? ', ...' : ''}.`,
      fix: 'The pod stays Pending until one does; an autoscaler may not know the name.',
    };
  }
  if (most === 0n) {
    return {
      message: `every node that advertises ${resource} has 0 of it.`,
      fix: 'Look at the device plugin on the nodes; until it is well the pod stays Pending.',
    };
  }
  return {
    message: `the pod takes ${total} ${resource}, and the largest node has ${most}.`,
    fix: `Ask for at most ${most} in one pod.`,
  };
}
