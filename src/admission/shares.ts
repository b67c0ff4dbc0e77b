import { gpuResource } from '../policy/resources.ts';
import type { Context } from './context.ts';
import { meets } from './placement.ts';
import { reachOf } from './reach.ts';
import type { NodeInfo } from './snapshot.ts';

/** The GPUs of one node that are shared: whole memory of one GPU in MiB, and how many units share it. */
export interface SharedGpu {
  readonly product: string;
  readonly totalMiB: number;
  readonly replicas: number;
}

const MEMORY = 'nvidia.com/gpu.memory';
const REPLICAS = 'nvidia.com/gpu.replicas';
const STRATEGY = 'nvidia.com/gpu.sharing-strategy';
const PRODUCT = 'nvidia.com/gpu.product';

/**
 * The shared GPUs that a pod asking for these resources can land on once it is placed, by the labels of feature discovery: gpu.memory is
 * one whole GPU's, never divided; gpu.replicas is per GPU. Cordoned and NotReady nodes count, so that a cap does not
 * move with them.
 */
export function reachableSharedGpus(context: Context, resources: ReadonlySet<string>): readonly SharedGpu[] {
  const { pod, policy, snapshot } = context;
  const strategy = policy.sharing === 'mps' ? 'mps' : 'time-slicing';
  const { requirements } = context.placement();
  const reaches = reachOf(pod);
  return snapshot.nodes.flatMap((node) => {
    const totalMiB = wholeNumber(node.labels[MEMORY]);
    const replicas = wholeNumber(node.labels[REPLICAS]);
    if (node.labels[STRATEGY] !== strategy || !totalMiB || !replicas || replicas < 2) return [];
    if (!offers(node, resources) || !requirements.every((wanted) => meets(node, wanted)) || !reaches(node)) return [];
    return [{ product: node.labels[PRODUCT] ?? 'unknown product', totalMiB, replicas }];
  });
}

/**
 * A node whose plugin has not registered yet has no GPU resource at all, or zero of it, and counts by its labels. A name that
 * the plugin gave up stays behind with zero.
 */
function offers(node: NodeInfo, resources: ReadonlySet<string>): boolean {
  const offered = Object.keys(node.allocatable).filter((name) => gpuResource(name) && node.allocatable[name] !== '0');
  return offered.length === 0 || offered.some((name) => resources.has(name));
}

function wholeNumber(text: string | undefined): number | undefined {
  return text !== undefined && /^\d{1,9}$/.test(text) ? Number(text) : undefined;
}
