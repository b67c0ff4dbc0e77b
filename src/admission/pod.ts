import { type GpuResource, gpuResource } from '../policy/resources.ts';
import type { ContainerAt } from './findings.ts';
import { isWhole, type Quantity, quantityFromJson, wholeUnits } from './quantity.ts';

/**
 * A pod, or a pod template, as the rules read it. Everything is read from arbitrary JSON: a field of an unexpected type
 * counts as absent, since the API server's own validation speaks of it.
 */
export interface PodView {
  readonly annotations: ReadonlyMap<string, string>;
  readonly labels: ReadonlyMap<string, string>;
  readonly containers: readonly ContainerView[];
  readonly schedulerName: string;
  readonly nodeName: string | undefined;
  readonly spec: JsonObject;
  /** Path of the pod inside the reviewed object: empty for a Pod, `spec.template` for a Deployment. */
  readonly path: readonly (string | number)[];
}

export type ContainerRole = 'init' | 'sidecar' | 'app' | 'ephemeral';

export interface ContainerView extends ContainerAt {
  readonly role: ContainerRole;
  /** One entry for each GPU resource that stands in limits or requests. */
  readonly gpus: readonly GpuAsk[];
  /** Other resource names of limits and requests, for misspelt ones. */
  readonly otherResources: readonly string[];
  readonly env: readonly EnvEntry[];
  /** A DRA claim may bring a GPU: resources.claims, or a resource that names a DeviceClass. */
  readonly hasClaims: boolean;
  /** The container as it stands. */
  readonly spec: JsonObject;
}

export interface GpuAsk {
  readonly resource: GpuResource;
  readonly limit?: Asked;
  readonly request?: Asked;
  /** What `unitsAsked` says; kept, since nearly every rule asks. */
  readonly units: bigint | undefined;
}

export interface Asked {
  readonly raw: unknown;
  /** Undefined when the value is no quantity. */
  readonly quantity: Quantity | undefined;
}

export interface EnvEntry {
  readonly index: number;
  readonly name: string;
  /** Undefined with valueFrom: a webhook can't read where it comes from. */
  readonly value: string | undefined;
  /** A later entry has the same name; the last one wins (kubelet keeps both, the runtime takes the last). */
  readonly overridden: boolean;
}

export type JsonObject = Readonly<Record<string, unknown>>;

export function asObject(value: unknown): JsonObject | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonObject) : undefined;
}

export function asArray(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** Reads the pod at `path` of a reviewed object. */
export function viewPod(
  pod: unknown,
  path: readonly (string | number)[],
  extraGpuResources: readonly string[],
): PodView {
  const root = asObject(pod) ?? {};
  const metadata = asObject(root.metadata) ?? {};
  const spec = asObject(root.spec) ?? {};
  const list = (key: 'initContainers' | 'containers' | 'ephemeralContainers') =>
    asArray(spec[key]).flatMap((container, index) => {
      const object = asObject(container);
      return object ? [viewContainer(object, key, index, path, extraGpuResources)] : [];
    });
  return {
    annotations: strings(metadata.annotations),
    labels: strings(metadata.labels),
    containers: [...list('initContainers'), ...list('containers'), ...list('ephemeralContainers')],
    schedulerName: typeof spec.schedulerName === 'string' ? spec.schedulerName : '',
    nodeName: typeof spec.nodeName === 'string' && spec.nodeName !== '' ? spec.nodeName : undefined,
    spec,
    path,
  };
}

function viewContainer(
  container: JsonObject,
  list: 'initContainers' | 'containers' | 'ephemeralContainers',
  index: number,
  podPath: readonly (string | number)[],
  extra: readonly string[],
): ContainerView {
  const path = [...podPath, 'spec', list, index];
  const resources = asObject(container.resources) ?? {};
  const limits = asObject(resources.limits) ?? {};
  const requests = asObject(resources.requests) ?? {};
  const names = [...new Set([...Object.keys(limits), ...Object.keys(requests)])];
  const gpus = names.flatMap((name) => {
    const resource = gpuResource(name, extra);
    if (!resource) return [];
    const limit = Object.hasOwn(limits, name) ? { limit: asked(limits[name]) } : undefined;
    const request = Object.hasOwn(requests, name) ? { request: asked(requests[name]) } : undefined;
    return [{ resource, ...limit, ...request, units: soundUnits(limit?.limit, request?.request) }];
  });
  return {
    role: role(container, list),
    path,
    field: fieldPath(path),
    name: typeof container.name === 'string' ? container.name : '',
    gpus,
    otherResources: names.filter((name) => !gpuResource(name, extra)),
    env: viewEnv(container.env),
    hasClaims: asArray(resources.claims).length > 0 || names.some((name) => name.startsWith(DEVICE_CLASS)),
    spec: container,
  };
}

/** `deviceclass.resource.kubernetes.io/gpu.nvidia.com: 1` has a claim made for it (KEP-5004). */
const DEVICE_CLASS = 'deviceclass.resource.kubernetes.io/';

/** A native sidecar is an init container with restartPolicy Always. */
function role(container: JsonObject, list: string): ContainerRole {
  if (list === 'containers') return 'app';
  if (list === 'ephemeralContainers') return 'ephemeral';
  return container.restartPolicy === 'Always' ? 'sidecar' : 'init';
}

function asked(raw: unknown): Asked {
  return { raw, quantity: quantityFromJson(raw) };
}

function viewEnv(env: unknown): readonly EnvEntry[] {
  const entries = asArray(env).flatMap((entry, index) => {
    const object = asObject(entry);
    if (!object || typeof object.name !== 'string') return [];
    const fromElsewhere = asObject(object.valueFrom) !== undefined;
    const value = fromElsewhere ? undefined : typeof object.value === 'string' ? object.value : '';
    return [{ index, name: object.name, value, overridden: false }];
  });
  const later = new Set<string>();
  for (const entry of entries.toReversed()) {
    entry.overridden = later.has(entry.name);
    later.add(entry.name);
  }
  return entries;
}

/** The entry that counts for a name: the last one. */
export function envEntry(container: ContainerView, name: string): EnvEntry | undefined {
  return container.env.findLast((entry) => entry.name === name);
}

const IDENTIFIER = /^[A-Za-z][A-Za-z0-9]*$/;

/** `spec.containers[0]` for ['spec', 'containers', 0]; keys that are no identifiers stand in brackets. */
export function fieldPath(path: readonly (string | number)[]): string {
  let text = '';
  for (const part of path) {
    if (typeof part === 'number' || !IDENTIFIER.test(part)) text += `[${part}]`;
    else text += text === '' ? part : `.${part}`;
  }
  return text;
}

/**
 * How many units the ask is for, when it is sound: a whole number that is not negative, the request equal to the limit or
 * absent. Undefined otherwise; the arithmetic rules say why.
 */
export function unitsAsked(ask: GpuAsk): bigint | undefined {
  return ask.units;
}

function soundUnits(limit: Asked | undefined, request: Asked | undefined): bigint | undefined {
  const quantity = limit?.quantity;
  if (!quantity || !isWhole(quantity) || quantity.nano < 0n) return undefined;
  if (request && request.quantity?.nano !== quantity.nano) return undefined;
  return wholeUnits(quantity);
}

/** True if the container asks for at least one GPU, soundly or not. */
export function asksForGpu(container: ContainerView): boolean {
  return container.gpus.some((ask) => unitsAsked(ask) !== 0n);
}

function strings(value: unknown): ReadonlyMap<string, string> {
  return new Map(
    Object.entries(asObject(value) ?? {}).filter((entry): entry is [string, string] => typeof entry[1] === 'string'),
  );
}
