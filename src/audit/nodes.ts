import { asObject } from '../admission/pod.ts';
import type { NodeState } from '../cluster/node-state.ts';
import { unitsIn } from '../explain/facts.ts';
import { gpuResource } from '../policy/resources.ts';

const STATE = 'nvidia.com/mig.config.state';
const PRODUCT = 'nvidia.com/gpu.product';

/** What a node does not give of what it should: no finding against a policy, but why pods would wait. */
export function nodeNotices(node: NodeState, gpuResources: readonly string[]): readonly string[] {
  const { name, labels, capacity, allocatable } = node;
  const notices: string[] = [];
  const state = labels[STATE];
  if (state !== undefined && state !== '' && state !== 'success') {
    notices.push(
      `node ${name}: its MIG layout ${labels['nvidia.com/mig.config'] ?? ''} is ${state}`.replace('  ', ' '),
    );
  }
  if (labels[PRODUCT]?.endsWith('-MIG-INVALID')) {
    notices.push(`node ${name}: its slices are not alike, which the MIG strategy single needs, so it offers none`);
  }
  for (const resource of Object.keys(capacity).filter((each) => gpuResource(each, gpuResources))) {
    const unhealthy = unitsIn(capacity, resource) - unitsIn(allocatable, resource);
    if (unhealthy > 0n)
      notices.push(`node ${name}: ${unhealthy} of ${unitsIn(capacity, resource)} ${resource} are unhealthy`);
  }
  const gpus = Object.keys(asObject(allocatable) ?? {}).filter((each) => gpuResource(each, gpuResources));
  const none = gpus.every((each) => unitsIn(allocatable, each) === 0n && unitsIn(capacity, each) === 0n);
  if (none && Number(labels['nvidia.com/gpu.count'] ?? 0) > 0) {
    notices.push(
      `node ${name}: has ${labels['nvidia.com/gpu.count']} GPUs by its labels, and its device plugin offers none`,
    );
  }
  return notices;
}
