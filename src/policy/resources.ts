import { closest, distance } from 'fastest-levenshtein';

/** What one unit of an extended resource is: a whole GPU, a share of one (time-slicing or MPS), or a MIG slice. */
export type GpuKind = 'whole' | 'shared' | 'mig';

export interface GpuResource {
  readonly name: string;
  readonly kind: GpuKind;
  /** Rewriting and memory caps are for NVIDIA only. */
  readonly vendor: string;
  /** `1g.10gb.me` in the resource's spelling; only for MIG. */
  readonly profile?: string;
}

export const WHOLE_GPU = 'nvidia.com/gpu';
export const SHARED_GPU = 'nvidia.com/gpu.shared';
const MIG = 'nvidia.com/mig-';
const SHARED_SUFFIX = '.shared';

/**
 * The resources counted as GPUs, as data rather than a prefix: `nvidia.com/gpumem` or `nvidia.com/hostdev` are no GPUs.
 * MIG names are open-ended (k8s-device-plugin api/config/v1), so they are matched by `nvidia.com/mig-`.
 */
export const GPU_RESOURCES: readonly GpuResource[] = [
  { name: WHOLE_GPU, kind: 'whole', vendor: 'nvidia.com' },
  { name: SHARED_GPU, kind: 'shared', vendor: 'nvidia.com' },
  { name: 'amd.com/gpu', kind: 'whole', vendor: 'amd.com' },
  { name: 'gpu.intel.com/i915', kind: 'whole', vendor: 'gpu.intel.com' },
  { name: 'gpu.intel.com/xe', kind: 'whole', vendor: 'gpu.intel.com' },
  { name: 'habana.ai/gaudi', kind: 'whole', vendor: 'habana.ai' },
];

const known = new Map(GPU_RESOURCES.map((resource) => [resource.name, resource]));

/** The GPU resource of that name, or undefined. `extra` are names that the configuration adds; each counts as a whole GPU. */
export function gpuResource(name: string, extra: readonly string[] = []): GpuResource | undefined {
  const resource = known.get(name);
  if (resource) return resource;
  if (name.startsWith(MIG)) {
    const profile = name.slice(MIG.length);
    return profile.endsWith(SHARED_SUFFIX)
      ? { name, kind: 'mig', vendor: 'nvidia.com', profile: profile.slice(0, -SHARED_SUFFIX.length) }
      : { name, kind: 'mig', vendor: 'nvidia.com', profile };
  }
  return extra.includes(name) ? { name, kind: 'whole', vendor: name.split('/')[0] ?? name } : undefined;
}

export function migResource(profile: string): string {
  return `${MIG}${profile}`;
}

/** Names that people write for a GPU and that no plugin advertises. */
const ALIASES: Readonly<Record<string, string>> = {
  gpu: WHOLE_GPU,
  gpus: WHOLE_GPU,
  'nvidia-gpu': WHOLE_GPU,
  'nvidia.com/gpus': WHOLE_GPU,
  'nvidia/gpu': WHOLE_GPU,
  'gpu.nvidia.com': WHOLE_GPU,
  'alpha.kubernetes.io/nvidia-gpu': WHOLE_GPU,
  'amd.com/gpus': 'amd.com/gpu',
};
/** Edits that a misspelling may be away: a short name such as amd.com/gpu is as near to other vendors' names. */
const furthestTypo = (name: string) => (name.length < 12 ? 1 : 3);

/** The GPU resource that a misspelt name probably means; undefined for names that mean something else. */
export function misspeltGpuResource(name: string, extra: readonly string[] = []): string | undefined {
  const lower = name.toLowerCase();
  if (Object.hasOwn(ALIASES, lower)) return ALIASES[lower];
  if (lower !== name && gpuResource(lower, extra)) return lower;
  if (!/^[a-z.-]+\/(gpu|gpus|mig-.+|gaudi|i915|xe)(\.shared)?$/.test(lower)) return undefined;
  const mig = /\/(mig-.+)$/.exec(lower)?.[1];
  const candidates = [...known.keys(), ...extra, ...(mig ? [`nvidia.com/${mig}`] : [])];
  const nearest = closest(lower, candidates);
  return distance(lower, nearest) <= furthestTypo(nearest) ? nearest : undefined;
}

/** Whether a name has the form of an extended resource: `domain/name`, outside of kubernetes.io (validation.go). */
export function isExtendedResource(name: string): boolean {
  const parts = /^([a-z0-9]([-a-z0-9.]*[a-z0-9])?)\/([A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)$/.exec(name);
  return parts !== null && !`${parts[1]}`.endsWith('kubernetes.io');
}
