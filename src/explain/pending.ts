import { asArray, asObject, type JsonObject, viewPod } from '../admission/pod.ts';
import { type ApiClient, ApiError } from '../cluster/client.ts';
import { extendedResourceName } from '../cluster/extras.ts';
import { isReady } from '../cluster/is-ready.ts';
import { listPages } from '../cluster/listwatch.ts';
import { nodeState, quantities } from '../cluster/node-state.ts';
import { all, optional } from '../cluster/read.ts';
import type { KubernetesObject } from '../cluster/store.ts';
import { objectAt, type Target } from '../cluster/workload-pods.ts';
import type { PolicySet } from '../policy/resolve.ts';
import { resolvePolicy } from '../policy/resolve.ts';
import { API_VERSION } from '../policy/schema.ts';
import { storedPolicies } from '../policy/stored.ts';
import { EXCLUDED_NAMESPACES } from '../registration/entries.ts';
import { unitsOf } from './facts.ts';
import type { ExplainInput, Holder, QuotaState, SeenEvent, StackPod } from './input.ts';

/** Bound to a node and not ended: what holds GPUs. */
const ON_NODES = 'spec.nodeName!=,status.phase!=Succeeded,status.phase!=Failed';

/**
 * Reads all that there is to know of a pod that waits. What the one who asks may not read is left out; what is needed (the pod
 * itself) rejects with an ApiError.
 */
export async function readPending(
  client: ApiClient,
  target: Target,
  gpuResources: readonly string[],
  signal: AbortSignal,
): Promise<ExplainInput> {
  const { namespace } = target;
  const found = await objectAt(client, target, signal);
  const list = (path: string, selectors = {}) => optional(() => all(client, path, signal, selectors));
  const [events, labels, policies, nodes, pods, quotas, classes, devices, claims] = await Promise.all([
    list(`/api/v1/namespaces/${namespace}/events`),
    optional(() => client.get(`/api/v1/namespaces/${namespace}`, {}, signal)),
    readPolicies(client, signal),
    list('/api/v1/nodes'),
    readPods(client, namespace, gpuResources, signal),
    list(`/api/v1/namespaces/${namespace}/resourcequotas`),
    list('/apis/node.k8s.io/v1/runtimeclasses'),
    list('/apis/resource.k8s.io/v1/deviceclasses'),
    list(`/apis/resource.k8s.io/v1/namespaces/${namespace}/resourceclaims`),
  ]);
  const told = eventsOf(events ?? [], found.eventsOf);
  return {
    pod: found.pod,
    subject: found.subject,
    exists: found.exists,
    namespace,
    idle: found.idle,
    excluded: EXCLUDED_NAMESPACES.includes(namespace),
    claims: claims && new Set(claims.map(({ metadata }) => String(metadata?.name))),
    events: found.failure === undefined ? told : [failedCreate(found.failure), ...told],
    policy:
      labels && policies ? resolvePolicy((labels as KubernetesObject).metadata?.labels ?? {}, policies) : undefined,
    nodes: nodes?.map(nodeState),
    ...pods,
    quotas: quotas?.map(quotaState),
    runtimeClasses: classes && new Set(classes.map(({ metadata }) => String(metadata?.name))),
    deviceClassResources: devices && new Set(devices.map(extendedResourceName).filter((name) => name !== '')),
    gpuResources,
  };
}

/** As the event would tell it, which is gone after an hour. */
function failedCreate(message: string): SeenEvent {
  return { type: 'Warning', reason: 'FailedCreate', message, source: '' };
}

/** Pods of all namespaces where they may be listed, else those of one. Only what is looked at is kept of each. */
async function readPods(
  client: ApiClient,
  namespace: string,
  gpuResources: readonly string[],
  signal: AbortSignal,
): Promise<Pick<ExplainInput, 'holders' | 'holdersOfNamespaceOnly' | 'stack'>> {
  const everywhere = await optional(() => reducePods(client, '/api/v1/pods', gpuResources, signal));
  if (everywhere) return { ...everywhere, holdersOfNamespaceOnly: false };
  const own = await optional(() => reducePods(client, `/api/v1/namespaces/${namespace}/pods`, gpuResources, signal));
  return { holders: own?.holders, stack: own?.stack ?? [], holdersOfNamespaceOnly: true };
}

async function reducePods(client: ApiClient, path: string, gpuResources: readonly string[], signal: AbortSignal) {
  const holders: Holder[] = [];
  const stack: StackPod[] = [];
  for await (const { items } of listPages(client, path, signal, { fieldSelector: ON_NODES })) {
    for (const pod of items) {
      const { name = '', namespace = '', labels = {} } = pod.metadata ?? {};
      const view = viewPod(pod, [], gpuResources);
      const units = unitsOf(view);
      if (view.nodeName !== undefined && units.size > 0) holders.push({ namespace, name, node: view.nodeName, units });
      const part = stackPart(labels);
      if (part && view.nodeName !== undefined) {
        stack.push({ part, namespace, name, node: view.nodeName, ...readiness(pod) });
      }
    }
  }
  return { holders, stack };
}

/** Pods of the GPU operator (label app) and of the charts of device plugin and feature discovery (app.kubernetes.io/name). */
const PARTS: readonly (readonly [RegExp, string])[] = [
  [/mps-control/, 'mps-control'],
  [/nvidia-device-plugin/, 'device-plugin'],
  [/gpu-feature-discovery/, 'feature-discovery'],
  [/nvidia-mig-manager/, 'mig-manager'],
  [/nvidia-container-toolkit/, 'container-toolkit'],
  [/nvidia-driver-daemonset/, 'driver'],
  [/nvidia-operator-validator/, 'validator'],
];

function stackPart(labels: Readonly<Record<string, string>>): string | undefined {
  const named = [labels.app, labels['app.kubernetes.io/name'], labels.name].filter((value) => value !== undefined);
  return PARTS.find(([pattern]) => named.some((value) => pattern.test(value)))?.[1];
}

function readiness(pod: unknown): Pick<StackPod, 'ready' | 'why'> {
  const status = asObject(asObject(pod)?.status);
  const waiting = asArray(status?.containerStatuses)
    .map((item) => asObject(asObject(asObject(item)?.state)?.waiting)?.reason)
    .find((reason) => typeof reason === 'string');
  return { ready: isReady(pod), why: String(waiting ?? status?.phase ?? 'not ready') };
}

/** The GpuPolicies; none where the resource is not installed, undefined where they may not be listed. */
export async function readPolicies(client: ApiClient, signal: AbortSignal): Promise<PolicySet | undefined> {
  try {
    return storedPolicies(await all(client, `/apis/${API_VERSION}/gpupolicies`, signal));
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return new Map();
    if (error instanceof ApiError && error.status === 403) return undefined;
    throw error;
  }
}

function quotaState(object: KubernetesObject): QuotaState {
  const { status } = object as { status?: JsonObject };
  return { name: String(object.metadata?.name), hard: quantities(status?.hard), used: quantities(status?.used) };
}

/** Events of these objects, oldest first. */
function eventsOf(events: readonly KubernetesObject[], names: ReadonlySet<string>): readonly SeenEvent[] {
  const at = (event: JsonObject) =>
    String(event.lastTimestamp ?? asObject(event.series)?.lastObservedTime ?? event.eventTime ?? '');
  return (events as readonly (KubernetesObject & JsonObject)[])
    .filter(({ involvedObject }) => {
      const { kind, name } = asObject(involvedObject) ?? {};
      return names.has(`${kind}/${name}`);
    })
    .sort((a, b) => at(a).localeCompare(at(b)))
    .map(({ type, reason, message, source, reportingComponent }) => ({
      type: String(type),
      reason: String(reason),
      message: String(message),
      source: String(reportingComponent || asObject(source)?.component || ''),
    }));
}
