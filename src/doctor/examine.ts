import { asArray, asObject } from '../admission/pod.ts';
import { type ApiClient, ApiError } from '../cluster/client.ts';
import { isReady } from '../cluster/is-ready.ts';
import { nodeState } from '../cluster/node-state.ts';
import { all } from '../cluster/read.ts';
import type { KubernetesObject } from '../cluster/store.ts';
import { API_VERSION } from '../policy/schema.ts';
import { storedPolicies } from '../policy/stored.ts';
import { CONFIGURATIONS_PATH } from '../registration/configurations.ts';
import type { Entry } from '../registration/entries.ts';
import { handshakeWith } from './handshake.ts';
import type { DoctorInput, Handshake, Probe, Read, ServiceState, Tried, WebhookConfiguration } from './input.ts';
import { chooseProbes } from './probes.ts';

export interface ExamineOptions {
  readonly version: string;
  readonly configuration: string;
  readonly entries: readonly Entry[];
  readonly excludedNamespaces: readonly string[];
  /** The only namespace in which pods are tried. */
  readonly namespace?: string | undefined;
  /** `host:port` where gpugate is reached from here, whatever the entries say. */
  readonly address?: string | undefined;
  /** Names of Services can be looked up: we are a pod. */
  readonly inCluster: boolean;
}

/** Reads what the checks look at, and tries the dry runs. Rejects where the API server itself can't be asked. */
export async function examine(client: ApiClient, options: ExamineOptions, signal: AbortSignal): Promise<DoctorInput> {
  const get = <T = KubernetesObject>(path: string) => read(() => client.get(path, {}, signal) as Promise<T>);
  const { gitVersion } = (await client.get('/version', {}, signal)) as { readonly gitVersion: string };
  const { configuration, excludedNamespaces } = options;
  const [mutating, validating, crd, policies, namespaces, nodes] = await Promise.all([
    get<WebhookConfiguration>(`${CONFIGURATIONS_PATH}/mutatingwebhookconfigurations/${configuration}`),
    get<WebhookConfiguration>(`${CONFIGURATIONS_PATH}/validatingwebhookconfigurations/${configuration}`),
    get('/apis/apiextensions.k8s.io/v1/customresourcedefinitions/gpupolicies.gpugate.dev'),
    read(() => all(client, `/apis/${API_VERSION}/gpupolicies`, signal)),
    read(() => all(client, '/api/v1/namespaces', signal)),
    read(() => all(client, '/api/v1/nodes', signal)),
  ]);
  const set = storedPolicies(valueIn(policies, []));
  const labels = new Map(
    valueIn(namespaces, []).map(({ metadata }) => [String(metadata?.name), metadata?.labels ?? {}] as const),
  );
  const targets = targetsOf(mutating, validating);
  const { probes, noChange } = chooseProbes({
    namespaces: labels,
    policies: set,
    nodes: valueIn(nodes, []).map(nodeState),
    excluded: excludedNamespaces,
    only: options.namespace,
  });
  // One after the other: so few are not worth a burst, and their order is that of the report.
  const tried: { probe: Probe; tried: Tried }[] = [];
  for (const probe of probes) tried.push({ probe, tried: await attempt(client, probe, signal) });
  const { handshakes, outOfReach } = await shakeHands(targets, options);
  return {
    version: options.version,
    now: new Date(),
    server: gitVersion,
    mutating,
    validating,
    configuration,
    entries: options.entries,
    excludedNamespaces,
    crd,
    services: await Promise.all(servicesOf(targets).map((target) => serviceState(client, target, signal))),
    handshakes,
    outOfReach,
    policies: mapped(policies, (objects) => ({ set, objects })),
    namespaces: mapped(namespaces, () => labels),
    probes: tried,
    ...(noChange === undefined ? {} : { noChange }),
  };
}

/** Where entries send reviews, with the caBundle that should make what answers there trusted. */
interface Target {
  readonly host: string;
  readonly port: number;
  readonly caBundle: string;
  readonly service?: { readonly namespace: string; readonly name: string };
}

function targetsOf(...reads: readonly Read<WebhookConfiguration>[]): readonly Target[] {
  const found = new Map<string, Target>();
  for (const { clientConfig } of reads.flatMap((each) => valueIn(each, {}).webhooks ?? [])) {
    const { service, url, caBundle = '' } = clientConfig;
    const parsed = url !== undefined && URL.canParse(url) ? new URL(url) : undefined;
    const target = service
      ? { host: `${service.name}.${service.namespace}.svc`, port: service.port ?? 443, caBundle, service }
      : parsed && { host: parsed.hostname.replace(/^\[|\]$/g, ''), port: Number(parsed.port) || 443, caBundle };
    if (target) found.set(`${target.host}:${target.port} ${caBundle}`, target);
  }
  return [...found.values()];
}

function servicesOf(targets: readonly Target[]) {
  const found = targets.flatMap(({ service, port }) => (service ? [{ ...service, port }] : []));
  return [...new Map(found.map((each) => [`${each.namespace}/${each.name}:${each.port}`, each])).values()];
}

/** Over a Service's name only from inside; the name in the certificate is the Service's wherever it is reached. */
async function shakeHands(targets: readonly Target[], { address, inCluster }: ExamineOptions) {
  const handshakes: Handshake[] = [];
  const outOfReach = new Set<string>();
  for (const { host, port, caBundle, service } of targets) {
    const [, givenHost, givenPort] = /^(.*):(\d+)$/.exec(address ?? '') ?? [];
    if (service && !inCluster && address === undefined) outOfReach.add(`${host}:${port}`);
    else {
      const at = { host: givenHost ?? host, port: Number(givenPort ?? port) };
      handshakes.push(await handshakeWith({ ...at, name: host, caBundle }));
    }
  }
  return { handshakes, outOfReach: [...outOfReach] };
}

async function attempt(client: ApiClient, { path, object }: Probe, signal: AbortSignal): Promise<Tried> {
  try {
    return { outcome: 'created', ...(await client.tryCreate(path, object, signal)) };
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return { outcome: 'refused', status: error.status, message: error.message };
  }
}

async function serviceState(
  client: ApiClient,
  { namespace, name, port }: { readonly namespace: string; readonly name: string; readonly port: number },
  signal: AbortSignal,
): Promise<ServiceState> {
  const service = await read(() => client.get(`/api/v1/namespaces/${namespace}/services/${name}`, {}, signal));
  const spec = asObject(asObject(valueIn(service, {}))?.spec);
  const labelSelector = Object.entries(asObject(spec?.selector) ?? {}).map(([key, value]) => `${key}=${value}`);
  const slices = await read(() =>
    all(client, `/apis/discovery.k8s.io/v1/namespaces/${namespace}/endpointslices`, signal, {
      labelSelector: `kubernetes.io/service-name=${name}`,
    }),
  );
  const pods =
    labelSelector.length === 0
      ? ({ state: 'absent' } as const)
      : await read(() =>
          all(client, `/api/v1/namespaces/${namespace}/pods`, signal, { labelSelector: labelSelector.join(',') }),
        );
  const ready = (endpoint: unknown) => asObject(asObject(endpoint)?.conditions)?.ready !== false;
  return {
    namespace,
    name,
    port,
    service: mapped(service, () => ({ ports: asArray(spec?.ports).map((each) => Number(asObject(each)?.port)) })),
    endpoints: mapped(slices, (items) => {
      const endpoints = items.flatMap((slice) => asArray(asObject(slice)?.endpoints));
      const well = endpoints.filter(ready).length;
      return { ready: well, notReady: endpoints.length - well };
    }),
    pods: mapped(pods, (items) => items.map(podImage)),
  };
}

function podImage(pod: KubernetesObject) {
  const { spec } = asObject(pod) ?? {};
  const [container] = asArray(asObject(spec)?.containers).map(asObject);
  return { name: String(pod.metadata?.name), image: String(container?.image ?? ''), ready: isReady(pod) };
}

async function read<T>(ask: () => Promise<T>): Promise<Read<T>> {
  try {
    return { state: 'read', value: await ask() };
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return { state: 'absent' };
    if (error instanceof ApiError && error.status === 403) return { state: 'forbidden' };
    throw error;
  }
}

function valueIn<T>(from: Read<T>, otherwise: T): T {
  return from.state === 'read' ? from.value : otherwise;
}

function mapped<T, U>(from: Read<T>, map: (value: T) => U): Read<U> {
  return from.state === 'read' ? { state: 'read', value: map(from.value) } : from;
}
