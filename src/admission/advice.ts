import type { Context } from './context.ts';
import { reachableSharedGpus } from './shares.ts';

/** What one unit of a GPU is in this namespace, for people who wanted a part of one: `one unit is a quarter of a GPU`. */
export function oneUnitHere(context: Context): string | undefined {
  const { policy } = context;
  if (policy.problems.length > 0) return undefined;
  if (policy.mig) return `here one unit is a MIG slice ${policy.mig.profile}`;
  if (!policy.shared) return undefined;
  const gpus = reachableSharedGpus(context.pod, policy, context.snapshot, new Set([policy.shared.resource]));
  const replicas = new Set(gpus.map((gpu) => gpu.replicas));
  const [only] = replicas;
  return replicas.size === 1 && only ? `here one unit is ${share(only)} of a GPU` : 'here one unit is a share of a GPU';
}

function share(replicas: number): string {
  const words: Readonly<Record<number, string>> = { 2: 'half', 3: 'a third', 4: 'a quarter', 8: 'an eighth' };
  return words[replicas] ?? `1/${replicas}`;
}
