/** One node, as far as rules look at it. */
export interface NodeInfo {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly allocatable: Readonly<Record<string, string>>;
}

/** A ResourceQuota or LimitRange of a namespace, by the extended resources that it names. */
export interface NamedLimits {
  readonly kind: 'ResourceQuota' | 'LimitRange';
  readonly name: string;
  /** As written there: a quota writes `requests.nvidia.com/gpu`. */
  readonly resources: readonly string[];
}

/** What is known of the cluster at one moment; frozen while a request is judged. What is not known is undefined. */
export interface Snapshot {
  readonly nodes: readonly NodeInfo[];
  /** Resources that the configuration counts as GPUs beside the catalogue. */
  readonly gpuResources: readonly string[];
  /** Extended resource names that some DeviceClass serves by DRA: no node advertises them. */
  readonly deviceClassResources?: ReadonlySet<string> | undefined;
  /** Names of the RuntimeClasses; only where the policy names one. */
  readonly runtimeClasses?: ReadonlySet<string> | undefined;
  /** Quotas and limit ranges of the pod's namespace. */
  readonly limits?: readonly NamedLimits[] | undefined;
}
