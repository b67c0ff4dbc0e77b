import type { NodeState } from '../cluster/node-state.ts';
import type { EffectivePolicy } from '../policy/policy.ts';

/**
 * All that is known of a pod that waits, at one moment: plain data, read before and never changed. What may not be read by the
 * one who asks is undefined, and is told as a question mark.
 */
export interface ExplainInput {
  /** The Pod as the API server holds it, or one made of a template whose pods the API server refuses. */
  readonly pod: unknown;
  /** `pod/train-0` or `deployment/train`: what was asked about, as kubectl names it. */
  readonly subject: string;
  readonly namespace: string;
  /** False: the pod is what a workload would make, and there is none. */
  readonly exists: boolean;
  /** Why a workload has no pod and none is missing, behind its name: `asks for 0 replicas`. */
  readonly idle?: string | undefined;
  /** The webhook configurations leave the namespace out. */
  readonly excluded: boolean;
  /** Names of the ResourceClaims of the namespace. */
  readonly claims: ReadonlySet<string> | undefined;
  /** Events of the pod, or of the workload that can't make one; oldest first. */
  readonly events: readonly SeenEvent[];
  readonly policy: EffectivePolicy | undefined;
  readonly nodes: readonly NodeState[] | undefined;
  /** Pods on nodes that hold GPUs. */
  readonly holders: readonly Holder[] | undefined;
  /** True where only the pods of the namespace may be listed. */
  readonly holdersOfNamespaceOnly: boolean;
  /** Pods of the GPU stack (device plugin, driver, feature discovery ...) on nodes. */
  readonly stack: readonly StackPod[];
  readonly quotas: readonly QuotaState[] | undefined;
  readonly runtimeClasses: ReadonlySet<string> | undefined;
  readonly deviceClassResources: ReadonlySet<string> | undefined;
  /** Resources that count as GPUs beside the catalogue. */
  readonly gpuResources: readonly string[];
}

/** A pod that holds GPUs of a node, by resource name. */
export interface Holder {
  readonly namespace: string;
  readonly name: string;
  readonly node: string;
  readonly units: ReadonlyMap<string, bigint>;
}

export interface StackPod {
  /** `device-plugin`, `driver`, `mig-manager` ... */
  readonly part: string;
  readonly namespace: string;
  readonly name: string;
  readonly node: string;
  readonly ready: boolean;
  /** `CrashLoopBackOff`, `Pending`. */
  readonly why: string;
}

export interface SeenEvent {
  readonly type: string;
  readonly reason: string;
  readonly message: string;
  /** Who reports it: `default-scheduler`, `kubelet`. */
  readonly source: string;
}

export interface QuotaState {
  readonly name: string;
  readonly hard: Readonly<Record<string, string>>;
  readonly used: Readonly<Record<string, string>>;
}
