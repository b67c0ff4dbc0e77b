import { type ApiClient, ApiError, connect } from './client.ts';
import { clusterExtras } from './extras.ts';
import { type ClusterPolicies, clusterPolicies } from './policies.ts';
import type { ClusterSource, Labels, NamespaceLookup, NodeInfo } from './source.ts';
import type { KubernetesObject } from './store.ts';
import { startWatch, type Watch, type WatchLog, type WatchTiming } from './watch.ts';

export interface ClusterOptions {
  readonly log: WatchLog;
  /** Path of a kubeconfig; without it KUBECONFIG, ~/.kube/config or the pod's service account. */
  readonly kubeconfig?: string;
  /** Whether nodes are watched (default true); without them `nodes()` is empty. */
  readonly watchNodes?: boolean;
  /** Whether GpuPolicies are watched (default false). */
  readonly watchPolicies?: boolean;
  readonly timing?: Partial<WatchTiming>;
}

/** A cluster, and its policies where they are watched. */
export interface Cluster extends ClusterSource {
  readonly policies?: ClusterPolicies;
}

const NAMESPACES = '/api/v1/namespaces';
const DEFAULT_TIMEOUT_MS = 1000;

/** A GET goes on after those who asked have given up, so that the next one finds the answer in memory. */
const GET_MS = 5000;

/** Namespaces and nodes of a cluster, watched from now on. Rejects when there is no usable kubeconfig; an API server that is away is waited for. */
export async function openCluster(options: ClusterOptions): Promise<Cluster> {
  return clusterSource(await connect(options.kubeconfig), options);
}

/** As `openCluster`, over a client that is already there. */
export function clusterSource(client: ApiClient, options: Omit<ClusterOptions, 'kubeconfig'>): Cluster {
  const shared = { log: options.log, timing: options.timing ?? {} };
  let namespaceMap: ReadonlyMap<string, Labels> | undefined;
  const namespaces = startWatch(client, {
    ...shared,
    resource: 'namespaces',
    path: NAMESPACES,
    reduce: labelsOf,
    onChange: () => {
      namespaceMap = undefined;
    },
  });
  let nodeArray: readonly NodeInfo[] | undefined;
  const nodes = startWatchOfNodes();
  const policies = options.watchPolicies ? clusterPolicies(client, shared) : undefined;
  const watches: readonly Pick<Watch<unknown>, 'state' | 'close'>[] = [
    namespaces,
    ...(nodes ? [nodes] : []),
    ...(policies ? [policies] : []),
  ];
  const extras = clusterExtras(client, shared);
  const closing = new AbortController();
  const underWay = new Map<string, Promise<NamespaceLookup>>();

  function startWatchOfNodes(): Watch<NodeInfo> | undefined {
    if (options.watchNodes === false) return undefined;
    const onChange = () => {
      nodeArray = undefined;
    };
    return startWatch(client, { ...shared, resource: 'nodes', path: '/api/v1/nodes', reduce: nodeInfoOf, onChange });
  }

  async function get(name: string): Promise<NamespaceLookup> {
    try {
      const limits = AbortSignal.any([closing.signal, AbortSignal.timeout(GET_MS)]);
      const object = (await client.get(`${NAMESPACES}/${encodeURIComponent(name)}`, {}, limits)) as KubernetesObject;
      namespaces.put(object);
      return { found: true, labels: labelsOf(object) };
    } catch (error) {
      // What is in memory stays until the watch tells of the deletion: the namespace may be there again by now.
      if (error instanceof ApiError && error.status === 404) return { found: false };
      return { found: 'unknown', reason: (error as Error).message };
    }
  }

  function shareGet(name: string): Promise<NamespaceLookup> {
    const request = underWay.get(name) ?? get(name).finally(() => underWay.delete(name));
    underWay.set(name, request);
    return request;
  }

  return {
    known: namespaces.get,
    async namespaceLabels(name, { refresh = false, timeoutMs = DEFAULT_TIMEOUT_MS } = {}) {
      const labels = namespaces.get(name);
      return labels && !refresh ? { found: true, labels } : within(timeoutMs, shareGet(name));
    },
    namespaces() {
      namespaceMap ??= new Map(namespaces.entries());
      return namespaceMap;
    },
    ...(policies ? { policies } : {}),
    nodes() {
      nodeArray ??= Object.freeze(nodes?.values() ?? []);
      return nodeArray;
    },
    synced: () => watches.every((watch) => watch.state().synced),
    extras,
    watches: () => [...watches.map((watch) => watch.state()), ...extras.states()],
    async close() {
      closing.abort();
      await Promise.all([...watches.map((watch) => watch.close()), extras.close()]);
      await client.close();
    },
  };
}

function labelsOf({ metadata }: KubernetesObject): Labels {
  return Object.freeze({ ...metadata?.labels });
}

function nodeInfoOf(object: KubernetesObject): NodeInfo {
  const { metadata, status } = object as KubernetesObject & { status?: { allocatable?: Record<string, string> } };
  const allocatable = Object.freeze({ ...status?.allocatable });
  return Object.freeze({ name: String(metadata?.name), labels: labelsOf(object), allocatable });
}

function within(timeoutMs: number, answer: Promise<NamespaceLookup>): Promise<NamespaceLookup> {
  return new Promise((resolve) => {
    const late = { found: 'unknown', reason: `the API server did not answer within ${timeoutMs} ms` } as const;
    const timer = setTimeout(() => resolve(late), timeoutMs);
    answer.then((lookup) => {
      clearTimeout(timer);
      resolve(lookup);
    });
  });
}
