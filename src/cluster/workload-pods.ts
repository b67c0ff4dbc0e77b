import { asObject, type JsonObject } from '../admission/pod.ts';
import type { ApiClient } from './client.ts';
import { all } from './read.ts';
import type { KubernetesObject } from './store.ts';

/** What a person asks about: a pod, or a workload whose pods are meant. */
export interface Target {
  readonly kind: TargetKind;
  readonly namespace: string;
  readonly name: string;
}

/** Kinds by the names that kubectl takes. */
const KINDS = {
  pod: { of: 'Pod', path: 'api/v1', plural: 'pods', also: ['po', 'pods'] },
  deployment: { of: 'Deployment', path: 'apis/apps/v1', plural: 'deployments', also: ['deploy', 'deployments'] },
  replicaset: { of: 'ReplicaSet', path: 'apis/apps/v1', plural: 'replicasets', also: ['rs', 'replicasets'] },
  statefulset: { of: 'StatefulSet', path: 'apis/apps/v1', plural: 'statefulsets', also: ['sts', 'statefulsets'] },
  daemonset: { of: 'DaemonSet', path: 'apis/apps/v1', plural: 'daemonsets', also: ['ds', 'daemonsets'] },
  job: { of: 'Job', path: 'apis/batch/v1', plural: 'jobs', also: ['jobs'] },
} as const;

export type TargetKind = keyof typeof KINDS;
export const TARGET_KINDS = Object.keys(KINDS) as readonly TargetKind[];

/** The kind that a word names, as kubectl would take it: `deploy`, `deployments`, `deployment.apps`. */
export function targetKind(word: string): TargetKind | undefined {
  const plain = word.toLowerCase().split('.')[0] ?? '';
  return TARGET_KINDS.find((kind) => kind === plain || (KINDS[kind].also as readonly string[]).includes(plain));
}

/** The pod to explain. */
interface Found {
  readonly pod: unknown;
  readonly subject: string;
  readonly exists: boolean;
  /** `Pod/name` of the objects whose events tell of it. */
  readonly eventsOf: ReadonlySet<string>;
}

/**
 * A pod; of a workload the one that waits, if any; else, where the API server lets none be made, the pod that its template
 * describes. Rejects with an ApiError when there is no such object.
 */
export async function objectAt(client: ApiClient, target: Target, signal: AbortSignal): Promise<Found> {
  const { kind, namespace, name } = target;
  const { path, plural, of } = KINDS[kind];
  const base = `/${path}/namespaces/${encodeURIComponent(namespace)}`;
  const object = (await client.get(`${base}/${plural}/${encodeURIComponent(name)}`, {}, signal)) as KubernetesObject;
  if (kind === 'pod') return existing(object);
  const spec = asObject((object as { spec?: unknown }).spec) ?? {};
  const labels = Object.entries(asObject(asObject(spec.selector)?.matchLabels) ?? {});
  const labelSelector = labels.map(([key, value]) => `${key}=${String(value)}`).join(',');
  const list = (resources: string) => all(client, resources, signal, { labelSelector });
  const own = new Set([uidOf(object)]);
  const sets = kind === 'deployment' ? (await list(`${base}/replicasets`)).filter(isOwned(own)) : [];
  for (const set of sets) own.add(uidOf(set));
  const pods = (await list(`/api/v1/namespaces/${encodeURIComponent(namespace)}/pods`)).filter(isOwned(own));
  const waiting = pods.find((pod) => phaseOf(pod) === 'Pending');
  if (waiting) return existing(waiting);
  const [any] = pods;
  if (any && pods.length >= wanted(object)) return existing(pods.find((pod) => phaseOf(pod) === 'Failed') ?? any);

  const template = asObject(spec.template) ?? {};
  return {
    pod: { ...template, metadata: { ...asObject(template.metadata), namespace } },
    subject: `${kind}/${name}`,
    exists: false,
    eventsOf: new Set([`${of}/${name}`, ...sets.map(({ metadata }) => `ReplicaSet/${metadata?.name}`)]),
  };
}

function uidOf({ metadata }: KubernetesObject): unknown {
  return (metadata as { uid?: unknown } | undefined)?.uid;
}

/** A selector can match more than what a workload controls. */
function isOwned(owners: ReadonlySet<unknown>): (object: KubernetesObject) => boolean {
  return ({ metadata }) => {
    const { ownerReferences = [] } = (metadata ?? {}) as {
      ownerReferences?: readonly { controller?: boolean; uid: string }[];
    };
    return ownerReferences.some(({ controller, uid }) => controller === true && owners.has(uid));
  };
}

function existing(pod: KubernetesObject): Found {
  const name = String(pod.metadata?.name);
  return { pod, subject: `pod/${name}`, exists: true, eventsOf: new Set([`Pod/${name}`]) };
}

function phaseOf(pod: KubernetesObject): unknown {
  return asObject((pod as { status?: unknown }).status)?.phase;
}

/** How many pods a workload should have. */
function wanted(object: KubernetesObject): number {
  const { spec, status } = object as { spec?: JsonObject; status?: JsonObject };
  const count = status?.desiredNumberScheduled ?? spec?.replicas ?? spec?.parallelism ?? 1;
  return typeof count === 'number' ? count : 1;
}
