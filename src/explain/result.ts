/** The layers in the order in which a request goes through them; the scheduler puts what they say together. */
export const LAYERS = [
  'pod spec',
  'admission',
  'node labels',
  'device plugin',
  'runtime class',
  'driver and hardware',
  'scheduler',
] as const;
export type LayerName = (typeof LAYERS)[number];

/** What can keep a pod from running, as codes for programs. `gpu: false`: it would keep a pod without GPUs as well. */
export const REASONS = {
  'misspelt-name': { layer: 'pod spec', gpu: true },
  gated: { layer: 'pod spec', gpu: false },
  'no-scheduler': { layer: 'pod spec', gpu: false },
  'refused-by-gpugate': { layer: 'admission', gpu: true },
  'refused-by-policy': { layer: 'admission', gpu: false },
  quota: { layer: 'admission', gpu: true },
  'other-quota': { layer: 'admission', gpu: false },
  'refused-by-api-server': { layer: 'admission', gpu: false },
  'gpugate-unreachable': { layer: 'admission', gpu: true },
  'no-such-product': { layer: 'node labels', gpu: true },
  'node-selector': { layer: 'node labels', gpu: false },
  'gpus-elsewhere': { layer: 'node labels', gpu: true },
  'mig-layout': { layer: 'node labels', gpu: true },
  'other-name': { layer: 'device plugin', gpu: true },
  'no-node-offers': { layer: 'device plugin', gpu: true },
  'none-left-of-the-plugin': { layer: 'device plugin', gpu: true },
  'more-than-a-node-has': { layer: 'device plugin', gpu: true },
  'refused-by-plugin': { layer: 'device plugin', gpu: true },
  'runtime-class': { layer: 'runtime class', gpu: true },
  'unhealthy-gpus': { layer: 'driver and hardware', gpu: true },
  'container-start': { layer: 'driver and hardware', gpu: true },
  'node-not-ready': { layer: 'scheduler', gpu: false },
  cordoned: { layer: 'scheduler', gpu: false },
  taint: { layer: 'scheduler', gpu: true },
  'no-such-node': { layer: 'scheduler', gpu: false },
  taken: { layer: 'scheduler', gpu: true },
  'other-resource': { layer: 'scheduler', gpu: false },
  volume: { layer: 'scheduler', gpu: false },
  'other-pods': { layer: 'scheduler', gpu: false },
  claim: { layer: 'scheduler', gpu: true },
  scheduler: { layer: 'scheduler', gpu: false },
  image: { layer: 'scheduler', gpu: false },
  'container-config': { layer: 'scheduler', gpu: false },
  container: { layer: 'scheduler', gpu: true },
} as const satisfies Readonly<Record<string, { readonly layer: LayerName; readonly gpu: boolean }>>;

export type ReasonCode = keyof typeof REASONS;

/** One thing that keeps the pod from running. */
export interface Reason {
  readonly code: ReasonCode;
  /** One sentence, without a full stop. */
  readonly text: string;
  /** The command to run next. */
  readonly next: string;
}

/** `ok`: nothing here keeps the pod. `problem`: this does. `unknown`: it can't be seen from here, or not by you. */
export type Mark = 'ok' | 'problem' | 'unknown';

export interface Layer {
  readonly name: LayerName;
  readonly mark: Mark;
  /** What was seen, a sentence each. */
  readonly seen: readonly string[];
  readonly reasons: readonly Reason[];
  /** The command that shows more, where there is no reason with its own. */
  readonly next?: string;
}

/**
 * `idle`: the workload wants no pod now. `refused`: the API server does not let the pod be made. `waiting`: no node yet. `starting`:
 * on a node, not running yet.
 */
export type State =
  | 'idle'
  | 'refused'
  | 'gated'
  | 'waiting'
  | 'starting'
  | 'running'
  | 'succeeded'
  | 'failed'
  | 'ending';

export interface Explanation {
  readonly subject: string;
  readonly namespace: string;
  readonly state: State;
  /** Node that it is on. */
  readonly node?: string;
  /** True where every reason would keep a pod without GPUs as well. */
  readonly notAboutGpus: boolean;
  /** What is to be said of it where there is no reason, behind its name. */
  readonly note?: string;
  /** It names its node itself, and no kubelet has looked at it yet. */
  readonly byItself: boolean;
  readonly layers: readonly Layer[];
}

/** What a layer's own file finds out; the mark follows from it. */
export interface Seen {
  readonly seen: readonly string[];
  readonly reasons?: readonly Reason[];
  /** Something could not be seen. */
  readonly unknown?: boolean;
  /** Something is wrong here, though the reason is told by another layer. */
  readonly problem?: boolean;
  readonly next?: string;
}
