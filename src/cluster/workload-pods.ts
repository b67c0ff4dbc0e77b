import { asArray, asObject, type JsonObject } from '../admission/pod.ts';
import type { ApiClient } from './client.ts';
import { all } from './read.ts';
import type { KubernetesObject } from './store.ts';
import { whyIdle } from './workload-idle.ts';

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
  cronjob: { of: 'CronJob', path: 'apis/batch/v1', plural: 'cronjobs', also: ['cj', 'cronjobs'] },
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
  /** Why the workload wants no pod, or no further one, behind its name. */
  readonly idle?: string;
  /** Why its controller could not make the last pod, as it keeps it in its status. */
  readonly failure?: string;
  /** `Pod/name` of the objects whose events tell of it. */
  readonly eventsOf: ReadonlySet<string>;
}

/**
 * A pod; of a workload the one that waits, if any; else, where there are fewer than it wants or it wants none, the pod that its
 * template describes. Of a CronJob its job counts. Rejects with an ApiError when there is no such object.
 */
export async function objectAt(client: ApiClient, target: Target, signal: AbortSignal): Promise<Found> {
  const { kind, namespace, name } = target;
  const { path, plural, of } = KINDS[kind];
  const base = `/${path}/namespaces/${encodeURIComponent(namespace)}`;
  const object = (await client.get(`${base}/${plural}/${encodeURIComponent(name)}`, {}, signal)) as KubernetesObject;
  if (kind === 'pod') return existing(object);
  const spec = asObject((object as { spec?: unknown }).spec) ?? {};
  if (kind === 'cronjob') {
    const jobs = (await all(client, `${base}/jobs`, signal)).filter(isOwned(new Set([uidOf(object)])));
    const job =
      jobs.find((each) => whyIdle('job', each, [], []) === undefined) ?? (spec.suspend ? undefined : latest(jobs));
    if (job) return objectAt(client, { kind: 'job', namespace, name: String(job.metadata?.name) }, signal);
  }
  const labels = Object.entries(asObject(asObject(spec.selector)?.matchLabels) ?? {});
  const labelSelector = labels.map(([key, value]) => `${key}=${String(value)}`).join(',');
  const list = (resources: string) => all(client, resources, signal, { labelSelector });
  const own = new Set([uidOf(object)]);
  const sets = kind === 'deployment' ? (await list(`${base}/replicasets`)).filter(isOwned(own)) : [];
  for (const set of sets) own.add(uidOf(set));
  const made = kind === 'cronjob' ? [] : await list(`/api/v1/namespaces/${encodeURIComponent(namespace)}/pods`);
  const pods = made.filter(isOwned(own));
  const failure = [object, ...sets].map(failureOf).find((message) => message !== undefined);
  const pending = pods.filter((pod) => phaseOf(pod) === 'Pending');
  // One that can't be made tells more than one that is starting.
  const waiting = pending.find((pod) => !isOnNode(pod)) ?? (failure === undefined ? pending[0] : undefined);
  if (waiting) return existing(waiting);
  const idle = whyIdle(kind, object, pods, sets);
  // Of a job that has ended, what its pods came to tells more.
  const enough = idle === undefined ? current(kind, pods).length >= wanted(kind, object) : kind === 'job';
  const [any] = pods;
  if (any && enough) return existing(pods.find((pod) => phaseOf(pod) === 'Failed') ?? any);

  const template = asObject(asObject(asObject(spec.jobTemplate)?.spec)?.template) ?? asObject(spec.template) ?? {};
  return {
    pod: { ...template, metadata: { ...asObject(template.metadata), namespace } },
    subject: `${kind}/${name}`,
    exists: false,
    ...(idle === undefined ? {} : { idle }),
    ...(failure === undefined ? {} : { failure }),
    eventsOf: new Set([`${of}/${name}`, ...sets.map(({ metadata }) => `ReplicaSet/${metadata?.name}`)]),
  };
}

function latest(jobs: readonly KubernetesObject[]): KubernetesObject | undefined {
  const made = ({ metadata }: KubernetesObject) =>
    String((metadata as { creationTimestamp?: unknown } | undefined)?.creationTimestamp ?? '');
  return jobs.toSorted((a, b) => made(b).localeCompare(made(a)))[0];
}

/** What a controller keeps of the last pod that it could not make, longer than the event lives. */
function failureOf(object: KubernetesObject): string | undefined {
  const { conditions } = asObject((object as { status?: unknown }).status) ?? {};
  const failure = asArray(conditions)
    .map(asObject)
    .find((condition) => condition?.type === 'ReplicaFailure' && condition.status === 'True');
  return typeof failure?.message === 'string' ? failure.message : undefined;
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

function isOnNode(pod: KubernetesObject): boolean {
  return asObject((pod as { spec?: unknown }).spec)?.nodeName !== undefined;
}

function phaseOf(pod: KubernetesObject): unknown {
  return asObject((pod as { status?: unknown }).status)?.phase;
}

/** The pods that count for what it should have: those of a job that have ended do not. */
function current(kind: TargetKind, pods: readonly KubernetesObject[]): readonly KubernetesObject[] {
  return kind === 'job' ? pods.filter((pod) => phaseOf(pod) !== 'Succeeded' && phaseOf(pod) !== 'Failed') : pods;
}

/** How many pods a workload should have now. */
function wanted(kind: TargetKind, object: KubernetesObject): number {
  const { spec, status } = object as { spec?: JsonObject; status?: JsonObject };
  if (kind === 'job') {
    const { parallelism = 1, completions } = spec ?? {};
    const left =
      typeof completions === 'number' ? completions - Number(status?.succeeded ?? 0) : Number.MAX_SAFE_INTEGER;
    return Math.min(Number(parallelism), left);
  }
  const count = status?.desiredNumberScheduled ?? spec?.replicas ?? 1;
  return typeof count === 'number' ? count : 1;
}
