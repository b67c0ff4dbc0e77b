import type { NodeRequirement } from '../policy/policy.ts';
import type { Change, ContainerAt } from './findings.ts';
import { isEmptyTerm, nodeSelectorTerms, termRequires } from './placement.ts';
import { asArray, asObject } from './pod.ts';

/** One JSON Patch operation (RFC 6902). Never `test`: the API server applies to the very object it sent. */
export type PatchOperation =
  | { readonly op: 'add' | 'replace'; readonly path: string; readonly value: unknown }
  | { readonly op: 'remove'; readonly path: string };

type Path = readonly (string | number)[];

/** A patch being made: the object it is for, where the pod stands in it, and the parents that it creates. */
interface Making {
  readonly object: unknown;
  readonly podPath: Path;
  readonly patch: PatchOperation[];
  readonly created: Set<string>;
}

/**
 * JSON Patch for typed changes of a reviewed object. Parents that are missing are created once; a null counts as missing.
 * `podPath` is where the pod stands in the object (empty for a Pod), for annotations.
 */
export function patchOf(object: unknown, changes: readonly Change[], podPath: Path): readonly PatchOperation[] {
  if (changes.length === 0) return [];
  const making: Making = { object, podPath, patch: [], created: new Set() };
  const requirements: NodeRequirement[] = [];
  for (const change of changes) if (change.type === 'require-node') requirements.push(change.requirement);
  if (requirements.length > 0) requireNodes(making, requirements);
  for (const change of changes) applyChange(making, change);
  return making.patch;
}

function applyChange(making: Making, change: Change): void {
  const { podPath } = making;
  switch (change.type) {
    case 'require-node':
      break;
    case 'add-toleration':
      add(making, [...podPath, 'spec', 'tolerations', '-'], change.toleration);
      break;
    case 'set-request':
      add(making, resource(change.container, 'requests', change.resource), change.quantity);
      break;
    case 'rename-resource':
      for (const list of LISTS) {
        remove(making, resource(change.container, list, change.from));
        add(making, resource(change.container, list, change.to), change.quantity);
      }
      break;
    case 'drop-resource':
      for (const list of LISTS) remove(making, resource(change.container, list, change.resource));
      break;
    case 'set-env':
      setEnv(making, change.container, change.name, change.value);
      break;
    case 'set-runtime-class':
      add(making, [...podPath, 'spec', 'runtimeClassName'], change.name);
      break;
    case 'set-annotation':
      add(making, [...podPath, 'metadata', 'annotations', change.name], change.value);
      break;
  }
}

const LISTS = ['limits', 'requests'] as const;

function resource({ path }: ContainerAt, list: (typeof LISTS)[number], name: string): Path {
  return [...path, 'resources', list, name];
}

function setEnv(making: Making, { path }: ContainerAt, name: string, value: string): void {
  const env = [...path, 'env'];
  const entry = { name, value };
  const index = asArray(at(making.object, env)).findLastIndex((candidate) => asObject(candidate)?.name === name);
  // The whole entry is replaced, so that a valueFrom goes with it.
  if (index >= 0) making.patch.push({ op: 'replace', path: pointer([...env, index]), value: entry });
  else add(making, [...env, '-'], entry);
}

function add({ object, podPath, patch, created }: Making, path: Path, value: unknown): void {
  let here: unknown = object;
  let location = '';
  for (let depth = 0; depth < path.length; depth += 1) {
    const part = path[depth] as string | number;
    if (depth > podPath.length && !canHold(here, part) && !created.has(location)) {
      created.add(location);
      patch.push({ op: 'add', path: location, value: part === '-' ? [] : {} });
    }
    location += `/${escaped(part)}`;
    here = child(here, part);
  }
  patch.push({ op: 'add', path: location, value });
}

function remove({ object, patch }: Making, path: Path): void {
  const parent = asObject(at(object, path.slice(0, -1)));
  const key = path.at(-1);
  if (parent && typeof key === 'string' && Object.hasOwn(parent, key)) {
    patch.push({ op: 'remove', path: pointer(path) });
  }
}

/** Alternatives are joined by OR, so that every one gets the expressions; a pod without any gets a first one. */
function requireNodes(making: Making, requirements: readonly NodeRequirement[]): void {
  const { object, podPath } = making;
  const path = [...podPath, 'spec', 'affinity', 'nodeAffinity', 'requiredDuringSchedulingIgnoredDuringExecution'];
  const spec = asObject(at(object, [...podPath, 'spec'])) ?? {};
  const terms = nodeSelectorTerms(spec);
  if (!terms) add(making, [...path, 'nodeSelectorTerms'], [{ matchExpressions: requirements }]);
  for (const [index, term] of (terms ?? []).entries()) {
    if (isEmptyTerm(term)) continue;
    const missing = requirements.filter((requirement) => !termRequires(term, requirement));
    for (const requirement of missing)
      add(making, [...path, 'nodeSelectorTerms', index, 'matchExpressions', '-'], requirement);
  }
}

/** A JSON Pointer (RFC 6901). */
export function pointer(path: Path): string {
  let text = '';
  for (const part of path) text += `/${escaped(part)}`;
  return text;
}

/** `~` is escaped before `/`, so that `nvidia.com/gpu` becomes `nvidia.com~1gpu`. */
function escaped(part: string | number): string | number {
  if (typeof part === 'number' || !(part.includes('/') || part.includes('~'))) return part;
  return part.replaceAll('~', '~0').replaceAll('/', '~1');
}

function at(value: unknown, path: Path): unknown {
  let here = value;
  for (const part of path) here = child(here, part);
  return here;
}

function child(value: unknown, part: string | number): unknown {
  if (typeof part === 'number') return asArray(value)[part];
  const object = asObject(value);
  return object && Object.hasOwn(object, part) ? object[part] : undefined;
}

/** Whether a value can hold the next part of a path: an array for an index or `-`, an object for a key. */
function canHold(value: unknown, next: string | number): boolean {
  return typeof next === 'number' || next === '-' ? Array.isArray(value) : asObject(value) !== undefined;
}
