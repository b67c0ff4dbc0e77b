import { WHOLE_GPU } from './resources.ts';

/** What a namespace's policy says about GPU requests, after labels, named policy and defaults were put together. */
export interface EffectivePolicy {
  /** Name of the GpuPolicy; undefined when only labels, or nothing, govern the namespace. */
  readonly name?: string;
  /** Where there is no policy only the arithmetic of the API server is judged. */
  readonly governed: boolean;
  readonly mode: Mode;
  readonly sharing?: Sharing;
  readonly mig?: MigPolicy;
  /** Names and counts under time-slicing or MPS. */
  readonly shared?: SharedPolicy;
  readonly memoryCap?: MemoryCapPolicy;
  /** What the labels of a node must say, whatever MIG profile is chosen. */
  readonly nodes: readonly NodeRequirement[];
  readonly tolerations: readonly Toleration[];
  /** The RuntimeClass for GPU pods that name none. */
  readonly runtimeClassName?: string;
  readonly otherSchedulers: readonly string[];
  readonly maxGpus: { readonly perContainer?: number; readonly perPod?: number };
  readonly visibleDevices: VisibleDevices;
  /** The namespace's label says `void`, so that the API server sends every one of its pods. */
  readonly everyPodComes: boolean;
  /** Nodes come when they are needed (an autoscaler), so that a resource no node offers now may still be had. */
  readonly nodesOnDemand: boolean;
  readonly templates: Templates;
  /** What was not understood. Never guessed at: GPU pods of the namespace are refused with it. */
  readonly problems: readonly PolicyProblem[];
  /** Unknown gpugate.dev/ labels and the like. */
  readonly warnings: readonly PolicyProblem[];
}

export type Mode = 'enforce' | 'warn' | 'audit';
export type Sharing = 'exclusive' | 'time-slicing' | 'mps' | 'mig';
export type Multiple = 'deny' | 'warn' | 'allow';
export type VisibleDevices = 'ignore' | 'warn' | 'void' | 'deny';
export type Templates = 'off' | 'warn' | 'deny' | 'mutate';
export type Framework = 'nvidia' | 'jax' | 'tensorflow' | 'cupy' | 'paddle' | 'pytorch' | 'hami-core' | 'tgi';

export interface MigPolicy {
  /** Spelling of resources: `1g.10gb.me`. */
  readonly profile: string;
  readonly allowedProfiles: readonly string[];
  readonly multiple: Multiple;
  /**
   * Under the single strategy and on GKE a slice is `nvidia.com/gpu`, and labels of the node tell the profile: templates with
   * `{profile}`. Undefined where slices have names of their own.
   */
  readonly nodeLabels?: Readonly<Record<string, string>>;
  /** Products whose slices are meant, as feature discovery labels them; empty for any. */
  readonly products: readonly string[];
}

/** One expression of node affinity. */
export interface NodeRequirement {
  readonly key: string;
  readonly operator: 'In' | 'NotIn';
  readonly values: readonly string[];
}

export interface Toleration {
  readonly key: string;
  readonly operator: 'Exists' | 'Equal';
  readonly value?: string;
  readonly effect?: 'NoSchedule' | 'PreferNoSchedule' | 'NoExecute';
}

export interface SharedPolicy {
  /** The name under which the nodes offer a share: `nvidia.com/gpu`, or `nvidia.com/gpu.shared` where the plugin renames; a MIG name where slices are shared. */
  readonly resource: string;
  readonly multiple: Multiple;
}

export interface MemoryCapPolicy {
  readonly amount: CapAmount;
  readonly maxMiB?: number;
  readonly reserveMiB: number;
  readonly fallbackMiB?: number;
  readonly frameworks: readonly Framework[];
}

/** How much of a GPU one unit may use. Percentages are of the whole GPU's memory, in thousandths of a percent. */
export type CapAmount =
  | { readonly kind: 'auto' }
  | { readonly kind: 'off' }
  | { readonly kind: 'mib'; readonly mib: number; readonly text: string }
  | { readonly kind: 'percent'; readonly milliPercent: number; readonly text: string };

export interface PolicyProblem {
  readonly code: 'GPU101' | 'GPU113';
  /** `label gpugate.dev/mig-profile`, `policy "notebooks"`. */
  readonly where: string;
  readonly value?: string;
  readonly message: string;
  readonly fix: string;
}

/** The policy of a namespace that has none: only arithmetic is judged. */
export const NO_POLICY: EffectivePolicy = {
  governed: false,
  mode: 'enforce',
  nodes: [],
  tolerations: [],
  otherSchedulers: [],
  maxGpus: {},
  visibleDevices: 'ignore',
  everyPodComes: false,
  nodesOnDemand: false,
  templates: 'warn',
  problems: [],
  warnings: [],
};

/** Whether `nvidia.com/gpu` becomes another resource under the policy. */
export function renamesGpus({ mig, shared }: EffectivePolicy): boolean {
  return (mig !== undefined && mig.nodeLabels === undefined) || (shared !== undefined && shared.resource !== WHOLE_GPU);
}
