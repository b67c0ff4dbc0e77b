import type { NamedLimits } from '../admission/snapshot.ts';
import type { ApiClient } from './client.ts';
import { type OnDemand, onDemand } from './on-demand.ts';
import type { WatchState } from './source.ts';
import type { KubernetesObject } from './store.ts';
import type { WatchLog, WatchTiming } from './watch.ts';

/** What rules ask of a cluster beside namespaces and nodes. Everything is undefined while it is not known. */
export interface Extras {
  /** Extended resource names that a DeviceClass serves by DRA (spec.extendedResourceName). */
  deviceClassResources(): ReadonlySet<string> | undefined;
  /** Names of the RuntimeClasses. */
  runtimeClasses(): ReadonlySet<string> | undefined;
  /** Resource names that quotas and limit ranges of a namespace speak of. */
  limits(namespace: string): readonly NamedLimits[] | undefined;
}

export interface Limits extends NamedLimits {
  readonly namespace: string;
}

/** Resources of Kubernetes itself come with another version of the API server, and not from one moment to the next. */
const ABSENT_MS = 60_000;

/** Each resource is watched from the first question on, so that a cluster whose policies never ask is not asked either. */
export function clusterExtras(
  client: ApiClient,
  shared: { readonly log: WatchLog; readonly timing: Partial<WatchTiming> },
): Extras & { states(): readonly WatchState[]; close(): Promise<void> } {
  const deviceClasses = onDemand(client, {
    ...shared,
    timing: { absentMs: ABSENT_MS, ...shared.timing },
    resource: 'deviceclasses',
    path: '/apis/resource.k8s.io/v1/deviceclasses',
    absent:
      'this cluster does not serve DeviceClasses of resource.k8s.io/v1 (Kubernetes before 1.34): until it does, no resource counts as served by DRA',
    reduce: extendedResourceName,
  });
  const runtimeClasses = onDemand(client, {
    ...shared,
    resource: 'runtimeclasses',
    path: '/apis/node.k8s.io/v1/runtimeclasses',
    reduce: ({ metadata }) => String(metadata?.name),
  });
  const quotas = onDemand(client, {
    ...shared,
    resource: 'resourcequotas',
    path: '/api/v1/resourcequotas',
    reduce: quotaOf,
  });
  const limitRanges = onDemand(client, {
    ...shared,
    resource: 'limitranges',
    path: '/api/v1/limitranges',
    reduce: limitRangeOf,
  });
  let served: { of: readonly string[] | undefined; names: ReadonlySet<string> | undefined } = {
    of: undefined,
    names: undefined,
  };
  // Looking through ten thousand quotas for those of a namespace takes longer than the rest of a verdict.
  let grouped:
    | {
        readonly of: readonly (readonly Limits[] | undefined)[];
        readonly by: ReadonlyMap<string, readonly Limits[]>;
      }
    | undefined;
  const all: readonly OnDemand<unknown>[] = [deviceClasses, runtimeClasses, quotas, limitRanges];
  return {
    deviceClassResources() {
      const names = deviceClasses.values();
      if (names !== served.of) served = { of: names, names: names && new Set(names.filter((name) => name !== '')) };
      return served.names;
    },
    runtimeClasses() {
      const names = runtimeClasses.values();
      return names && new Set(names);
    },
    limits(namespace) {
      const of = [quotas.values(), limitRanges.values()] as const;
      const [ofQuotas, ofRanges] = of;
      if (!ofQuotas || !ofRanges) return undefined;
      if (grouped?.of[0] !== ofQuotas || grouped.of[1] !== ofRanges) {
        grouped = { of, by: Map.groupBy([...ofQuotas, ...ofRanges], (limits) => limits.namespace) };
      }
      return grouped.by.get(namespace) ?? [];
    },
    states: () => all.flatMap((each) => each.states()),
    close: async () => {
      await Promise.all(all.map((each) => each.close()));
    },
  };
}

export function extendedResourceName(object: KubernetesObject): string {
  const { spec } = object as { spec?: { extendedResourceName?: unknown } };
  return typeof spec?.extendedResourceName === 'string' ? spec.extendedResourceName : '';
}

export function quotaOf(object: KubernetesObject): Limits {
  const { spec } = object as { spec?: { hard?: object } };
  return limitsOf('ResourceQuota', object, Object.keys(spec?.hard ?? {}));
}

export function limitRangeOf(object: KubernetesObject): Limits {
  const { spec } = object as { spec?: { limits?: readonly Record<string, object | undefined>[] } };
  const names = (spec?.limits ?? []).flatMap((item) =>
    ['default', 'defaultRequest', 'max', 'min'].flatMap((field) => Object.keys(item[field] ?? {})),
  );
  return limitsOf('LimitRange', object, names);
}

/** Only names with a slash are kept: cpu, memory and counts of objects are of no interest to a rule about GPUs. */
function limitsOf(kind: NamedLimits['kind'], { metadata }: KubernetesObject, names: readonly string[]): Limits {
  const resources = [...new Set(names.filter((name) => name.includes('/')))].sort();
  return { kind, name: String(metadata?.name), namespace: String(metadata?.namespace), resources };
}
