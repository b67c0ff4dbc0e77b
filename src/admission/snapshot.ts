/** One node, as far as rules look at it. */
export interface NodeInfo {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly allocatable: Readonly<Record<string, string>>;
}

/** What is known of the cluster at one moment; frozen while a request is judged. */
export interface Snapshot {
  readonly nodes: readonly NodeInfo[];
  /** Resources that the configuration counts as GPUs beside the catalogue. */
  readonly gpuResources: readonly string[];
}

export const EMPTY_SNAPSHOT: Snapshot = { nodes: [], gpuResources: [] };
