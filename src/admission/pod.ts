import { type GpuResource, gpuResource } from '../policy/resources.ts';
import type { ContainerAt } from './findings.ts';
import { isWhole, type Quantity, quantityFromJson, wholeUnits } from './quantity.ts';

/**
 * A pod, or a pod template, as the rules read it. Everything is read from arbitrary JSON: a field of an unexpected type
 * counts as absent, since the API server's own validation speaks of it.
 */
export interface PodView {
  readonly annotations: ReadonlyMap<string, string>;
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
  readonly limit: Asked | undefined;
  readonly request: Asked | undefined;
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
  const specPath = [...path, 'spec'];
  const specField = fieldPath(specPath);
  const containers: ContainerView[] = [];
  for (const list of CONTAINER_LISTS) {
    const items = asArray(spec[list]);
    for (let index = 0; index < items.length; index += 1) {
      const container = asObject(items[index]);
      if (!container) continue;
      const at = { path: [...specPath, list, index], field: `${specField}.${list}[${index}]` };
      containers.push(viewContainer(container, list, at, extraGpuResources));
    }
  }
  return {
    annotations: strings(metadata.annotations),
    containers,
    schedulerName: typeof spec.schedulerName === 'string' ? spec.schedulerName : '',
    nodeName: typeof spec.nodeName === 'string' && spec.nodeName !== '' ? spec.nodeName : undefined,
    spec,
    path,
  };
}

const CONTAINER_LISTS = ['initContainers', 'containers', 'ephemeralContainers'] as const;

// Every review comes through here, so it is loops that make no more than what is kept.
function viewContainer(
  container: JsonObject,
  list: (typeof CONTAINER_LISTS)[number],
  { path, field }: { readonly path: readonly (string | number)[]; readonly field: string },
  extra: readonly string[],
): ContainerView {
  const resources = asObject(container.resources) ?? NOTHING;
  const limits = asObject(resources.limits) ?? NOTHING;
  const requests = asObject(resources.requests) ?? NOTHING;
  const gpus: GpuAsk[] = [];
  const otherResources: string[] = [];
  const view = (name: string) => {
    const resource = gpuResource(name, extra);
    if (!resource) {
      otherResources.push(name);
      return;
    }
    const limit = Object.hasOwn(limits, name) ? asked(limits[name]) : undefined;
    const request = Object.hasOwn(requests, name) ? asked(requests[name]) : undefined;
    gpus.push({ resource, limit, request, units: soundUnits(limit, request) });
  };
  for (const name of Object.keys(limits)) view(name);
  for (const name of Object.keys(requests)) if (!Object.hasOwn(limits, name)) view(name);
  return {
    role: role(container, list),
    path,
    field,
    name: typeof container.name === 'string' ? container.name : '',
    gpus,
    otherResources,
    env: viewEnv(container.env),
    hasClaims: asArray(resources.claims).length > 0 || otherResources.some((name) => name.startsWith(DEVICE_CLASS)),
    spec: container,
  };
}

const NOTHING: JsonObject = Object.freeze({});

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
  const items = asArray(env);
  const entries: EnvEntry[] = [];
  for (let index = 0; index < items.length; index += 1) {
    const item = asObject(items[index]);
    if (!item || typeof item.name !== 'string') continue;
    const fromElsewhere = asObject(item.valueFrom) !== undefined;
    const value = fromElsewhere ? undefined : typeof item.value === 'string' ? item.value : '';
    entries.push({ index, name: item.name, value });
  }
  return entries;
}

/** The entry that counts for a name: the last one (kubelet keeps all, the runtime takes the last). */
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
  const object = asObject(value) ?? NOTHING;
  const texts = new Map<string, string>();
  for (const name of Object.keys(object)) {
    const text = object[name];
    if (typeof text === 'string') texts.set(name, text);
  }
  return texts;
}
