import type { Context } from './context.ts';
import { inventoryOf, type SharedNode } from './inventory.ts';
import { meets } from './placement.ts';
import { reachOf } from './reach.ts';

/** The GPUs of one node that are shared: whole memory of one GPU in MiB, and how many units share it. */
export type SharedGpu = Pick<SharedNode, 'product' | 'totalMiB' | 'replicas'>;

/**
 * The shared GPUs that a pod asking for these resources can land on once it is placed. Cordoned and NotReady nodes count, so
 * that a cap does not move with them; so does a node whose plugin has not registered yet.
 */
export function reachableSharedGpus(context: Context, resources: ReadonlySet<string>): readonly SharedGpu[] {
  const { pod, policy, snapshot } = context;
  const wanted = policy.sharing === 'mps' ? 'mps' : 'time-slicing';
  const { requirements } = context.placement();
  const reaches = reachOf(pod);
  return inventoryOf(snapshot.nodes, snapshot.gpuResources).shared.filter(
    ({ node, strategy, offers }) =>
      strategy === wanted &&
      (offers.length === 0 || offers.some((name) => resources.has(name))) &&
      requirements.every((requirement) => meets(node, requirement)) &&
      reaches(node),
  );
}
