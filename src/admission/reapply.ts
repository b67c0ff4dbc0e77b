import { CAP_VARIABLES } from '../policy/cap-variables.ts';
import { gpuResource } from '../policy/resources.ts';
import { INDEXED_LIMIT } from './cap-plan.ts';
import { ORIGINAL, POLICY, readOriginals } from './originals.ts';
import { type PatchOperation, pointer } from './patch.ts';
import { asArray, asObject, type JsonObject, viewPod } from './pod.ts';
import { quantityFromJson } from './quantity.ts';
import { VISIBLE_DEVICES_VARIABLE } from './visible-devices.ts';

const LISTS = ['initContainers', 'containers'] as const;
const VARIABLES: ReadonlySet<string> = new Set([
  VISIBLE_DEVICES_VARIABLE,
  ...CAP_VARIABLES.flatMap(({ name, insteadOf }) => [name, ...(insteadOf ?? [])]),
]);

/**
 * What gpugate changed when a pod was created is put back when the pod's manifest is applied again: without it the API
 * server refuses the second `kubectl apply` of a bare pod, since resources and env of a pod can't change. It judges
 * nothing. Only fields that go back to what the running pod has are touched, so it can't grant anything; an update that
 * asks for something else than the manifest of the first time is left to the API server.
 */
export function reapply(object: unknown, before: unknown, extra: readonly string[]): readonly PatchOperation[] {
  const old = viewPod(before, [], extra);
  if (!asObject(object) || !old.annotations.has(POLICY)) return [];
  const originals = readOriginals(old.annotations);
  const spec = asObject(asObject(object)?.spec);
  const oldSpec = asObject(asObject(before)?.spec);
  const patch: PatchOperation[] = [];
  for (const list of LISTS) {
    const byName = new Map(asArray(oldSpec?.[list]).map((item) => [nameOf(item), asObject(item)]));
    for (const [index, item] of asArray(spec?.[list]).entries()) {
      const container = asObject(item);
      const running = container && byName.get(nameOf(container));
      if (!running) continue;
      const path = ['spec', list, index];
      patch.push(...resourcesBack(container, running, originals.get(nameOf(container)), path, extra));
      patch.push(...envBack(container, running, path));
    }
  }
  if (spec && oldSpec) patch.push(...placementBack(spec, oldSpec));
  return [...patch, ...annotationsBack(object, before)];
}

/** The GPU resources of the running container, where the update asks for what was asked before the rename. */
function resourcesBack(
  container: JsonObject,
  running: JsonObject,
  original: ReadonlyMap<string, string> | undefined,
  path: readonly (string | number)[],
  extra: readonly string[],
): readonly PatchOperation[] {
  if (!original) return [];
  const { limits, requests } = asObject(container.resources) ?? {};
  const old = asObject(running.resources) ?? {};
  const again = [...original].every(([name, quantity]) => sameQuantity(asObject(limits)?.[name], quantity));
  // kubectl merges the manifest into the running pod, so both may stand there; any other GPU is a new wish.
  const known = (asked: unknown, runs: unknown) =>
    Object.entries(asObject(asked) ?? {})
      .filter(([name]) => gpuResource(name, extra))
      .every(([name, value]) => sameQuantity(value, original.get(name)) || sameQuantity(value, asObject(runs)?.[name]));
  if (!again || !known(limits, old.limits) || !known(requests, old.requests)) return [];
  return putBack(container, running, path, extra);
}

function putBack(
  container: JsonObject,
  running: JsonObject,
  path: readonly (string | number)[],
  extra: readonly string[],
): readonly PatchOperation[] {
  const resources = asObject(container.resources) ?? {};
  const old = asObject(running.resources) ?? {};
  const merged: Record<string, unknown> = { ...resources };
  for (const list of ['limits', 'requests']) {
    const others = Object.entries(asObject(resources[list]) ?? {}).filter(([name]) => !gpuResource(name, extra));
    const gpus = Object.entries(asObject(old[list]) ?? {}).filter(([name]) => gpuResource(name, extra));
    merged[list] = Object.fromEntries([...others, ...gpus]);
  }
  if (sameJson(resources, merged)) return [];
  return [{ op: 'add', path: pointer([...path, 'resources']), value: merged }];
}

/** The whole env is put back as it runs when only variables that gpugate may have set differ. */
function envBack(
  container: JsonObject,
  running: JsonObject,
  path: readonly (string | number)[],
): readonly PatchOperation[] {
  const wanted = asArray(container.env);
  const actual = asArray(running.env);
  if (sameJson(wanted, actual)) return [];
  const others = (env: readonly unknown[]) => env.filter((entry) => !isOurs(nameOf(entry)));
  if (!sameJson(others(wanted), others(actual))) return [];
  // A variable that the running pod lacks is a new wish.
  const names = new Set(actual.map(nameOf));
  if (!wanted.every((entry) => names.has(nameOf(entry)))) return [];
  return [{ op: 'add', path: pointer([...path, 'env']), value: actual }];
}

/** Comparing takes the square of the length in characters; longer ones are left to the API server. */
const LONGEST_AFFINITY = 20_000;

/**
 * Affinity, where the running pod has what the update asks for and more, and tolerations that the update lacks. A gated pod
 * may still change its affinity.
 */
function placementBack(spec: JsonObject, running: JsonObject): readonly PatchOperation[] {
  const patch: PatchOperation[] = [];
  const gated = asArray(running.schedulingGates).length > 0;
  const asked = JSON.stringify(spec.affinity) ?? '';
  const runs = JSON.stringify(running.affinity) ?? '';
  const comparable = asked !== runs && asked.length + runs.length < LONGEST_AFFINITY;
  if (!gated && comparable && isWithin(spec.affinity, running.affinity)) {
    patch.push({ op: 'add', path: '/spec/affinity', value: running.affinity });
  }
  const wanted = new Set(asArray(spec.tolerations).map((own) => JSON.stringify(own)));
  const actual = new Set(asArray(running.tolerations).map((old) => JSON.stringify(old)));
  if (wanted.size < actual.size && [...wanted].every((own) => actual.has(own))) {
    patch.push({ op: 'add', path: '/spec/tolerations', value: running.tolerations });
  }
  return patch;
}

/** True when everything of `part` stands in `whole`: keys of objects, and elements of lists at the same place or, of expressions, anywhere. */
function isWithin(part: unknown, whole: unknown): boolean {
  if (part === undefined || part === null) return whole !== undefined;
  if (Array.isArray(part)) {
    const others = asArray(whole);
    return part.every((item) => others.some((other) => isWithin(item, other)));
  }
  const object = asObject(part);
  if (!object) return part === whole;
  const other = asObject(whole);
  return other !== undefined && Object.entries(object).every(([key, value]) => isWithin(value, other[key]));
}

function nameOf(value: unknown): string {
  const name = asObject(value)?.name;
  return typeof name === 'string' ? name : '';
}

function isOurs(variable: string): boolean {
  return VARIABLES.has(variable) || INDEXED_LIMIT.test(variable);
}

function annotationsBack(object: unknown, before: unknown): readonly PatchOperation[] {
  const metadata = asObject(asObject(object)?.metadata);
  const annotations = asObject(metadata?.annotations);
  const old = asObject(asObject(asObject(before)?.metadata)?.annotations) ?? {};
  const lost = [POLICY, ORIGINAL].filter((name) => Object.hasOwn(old, name) && annotations?.[name] !== old[name]);
  if (lost.length === 0) return [];
  return [
    ...(metadata ? [] : [{ op: 'add' as const, path: '/metadata', value: {} }]),
    ...(annotations ? [] : [{ op: 'add' as const, path: '/metadata/annotations', value: {} }]),
    ...lost.map((name) => ({ op: 'add' as const, path: pointer(['metadata', 'annotations', name]), value: old[name] })),
  ];
}

function sameQuantity(a: unknown, b: unknown): boolean {
  const quantity = quantityFromJson(a);
  return quantity !== undefined && quantity.nano === quantityFromJson(b)?.nano;
}

function sameJson(a: unknown, b: unknown): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}
