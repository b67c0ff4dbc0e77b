import type { Context } from './context.ts';
import type { GpuAsk } from './pod.ts';
import { reachableSharedGpus } from './shares.ts';

/**
 * What one unit is, for people who wanted a part of a GPU, as the end of a sentence: `: here one unit is a quarter of a GPU`.
 * Empty where that depends on something that gpugate doesn't look at.
 */
export function oneUnit(context: Context, { resource }: GpuAsk): string {
  const { policy, leftTo } = context;
  if (resource.vendor !== 'nvidia.com' || policy.problems.length > 0 || leftTo !== undefined) return '';
  if (resource.kind === 'mig') return `: one unit is a MIG slice ${resource.profile}`;
  if (resource.kind === 'shared') return `: one unit is ${shareHere(context, resource.name)} of a GPU`;
  if (policy.mig) return `: here one unit is a MIG slice ${context.profile().profile ?? policy.mig.profile}`;
  if (policy.shared) return `: here one unit is ${shareHere(context, policy.shared.resource)} of a GPU`;
  return '; to use part of a GPU the namespace needs a policy for MIG or time-slicing';
}

function shareHere(context: Context, resource: string): string {
  const gpus = reachableSharedGpus(context, new Set([resource]));
  const [replicas, ...others] = new Set(gpus.map((gpu) => gpu.replicas));
  return replicas === undefined || others.length > 0 ? 'a share' : share(replicas);
}

function share(replicas: number): string {
  const words: Readonly<Record<number, string>> = { 2: 'half', 3: 'a third', 4: 'a quarter', 8: 'an eighth' };
  return words[replicas] ?? `1/${replicas}`;
}
