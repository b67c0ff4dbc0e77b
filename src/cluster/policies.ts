import { isDeepStrictEqual } from 'node:util';
import type { PolicySource } from '../policy/files.ts';
import type { PolicySet } from '../policy/resolve.ts';
import { API_VERSION, type GpuPolicy } from '../policy/schema.ts';
import type { PolicyStatus } from '../policy/status.ts';
import { type BrokenPolicy, readStored } from '../policy/stored.ts';
import { type ApiClient, ApiError } from './client.ts';
import type { WatchState } from './source.ts';
import type { KubernetesObject } from './store.ts';
import { startWatch, type WatchLog, type WatchTiming } from './watch.ts';

/** One GpuPolicy as it stands in the cluster. */
export interface StoredPolicy {
  readonly policy: GpuPolicy | BrokenPolicy;
  readonly resourceVersion: string;
  readonly generation: number;
  readonly status: PolicyStatus;
}

/** The GpuPolicies of a cluster, watched. */
export interface ClusterPolicies extends PolicySource {
  /** The first list has come, or the answer that there is no such resource. */
  synced(): boolean;
  /** Each as it stands; the same array until one changes, its status included. */
  stored(): readonly StoredPolicy[];
  refresh(name: string): Promise<void>;
  /** Writes the status of what was read; false when it has changed meanwhile, or is gone. */
  writeStatus(read: StoredPolicy, status: PolicyStatus, signal: AbortSignal): Promise<boolean>;
  state(): WatchState;
  close(): Promise<void>;
}

const PATH = `/apis/${API_VERSION}/gpupolicies`;
const ABSENT =
  'GpuPolicy is not installed in this cluster: apply deploy/crd.yaml. Until then no policy is known, and GPU pods of namespaces that name one are refused';

/** What a review waits for at most. */
const REFRESH_MS = 1000;

/** Watches GpuPolicies. A cluster without their CRD is one without policies, until it comes. */
export function clusterPolicies(
  client: ApiClient,
  shared: { readonly log: WatchLog; readonly timing: Partial<WatchTiming> },
): ClusterPolicies {
  /** Kept as the same object while no spec changes, since what is computed from it is cached by its identity. */
  let set: PolicySet = new Map();
  let all: readonly StoredPolicy[] | undefined;
  const onChange = (name: string, stored: StoredPolicy | undefined) => {
    all = undefined;
    if (isDeepStrictEqual(set.get(name), stored?.policy)) return;
    const next = new Map(set);
    if (stored) next.set(name, stored.policy);
    else next.delete(name);
    set = next;
  };
  const watch = startWatch(client, {
    ...shared,
    resource: 'gpupolicies',
    path: PATH,
    absent: ABSENT,
    reduce: storedOf,
    onChange,
  });
  const underWay = new Map<string, Promise<void>>();

  async function read(name: string): Promise<void> {
    try {
      const object = await client.get(pathOf(name), {}, AbortSignal.timeout(REFRESH_MS));
      watch.put(object as KubernetesObject);
    } catch {
      // What is in memory is judged by then; the watch tells of what changed.
    }
  }

  return {
    current: () => set,
    synced: () => watch.state().synced,
    stored() {
      all ??= Object.freeze(watch.values());
      return all;
    },
    refresh(name) {
      const request = underWay.get(name) ?? read(name).finally(() => underWay.delete(name));
      underWay.set(name, request);
      return request;
    },
    async writeStatus({ policy, resourceVersion }, status, signal) {
      const patch = { metadata: { resourceVersion }, status: { ...CLEARED, ...status } };
      try {
        await client.patch(`${pathOf(policy.metadata.name)}/status`, patch, signal);
        return true;
      } catch (error) {
        if (error instanceof ApiError && (error.status === 404 || error.status === 409)) return false;
        throw error;
      }
    },
    state: watch.state,
    close: watch.close,
  };
}

/** In a merge patch a field that is left out stays. */
const CLEARED = { lastProblem: null, namespaceNames: null };

function pathOf(name: string): string {
  return `${PATH}/${encodeURIComponent(name)}`;
}

function storedOf(object: KubernetesObject): StoredPolicy {
  const { metadata, status } = object as {
    metadata?: { resourceVersion?: string; generation?: number };
    status?: unknown;
  };
  return {
    policy: readStored(object),
    resourceVersion: metadata?.resourceVersion ?? '',
    generation: metadata?.generation ?? 0,
    status: typeof status === 'object' && status !== null ? status : {},
  };
}
