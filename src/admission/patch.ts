import type { NodeRequirement } from '../policy/policy.ts';
import type { Change, ContainerAt } from './findings.ts';
import { isEmptyTerm, nodeSelectorTerms, termRequires } from './placement.ts';
import { asArray, asObject } from './pod.ts';

/** One JSON Patch operation (RFC 6902). Never `test`: the API server applies to the very object it sent. */
export type PatchOperation =
  | { readonly op: 'add' | 'replace'; readonly path: string; readonly value: unknown }
  | { readonly op: 'remove'; readonly path: string };

type Path = readonly (string | number)[];

/**
 * JSON Patch for typed changes of a reviewed object. Parents that are missing are created once; a null counts as missing.
 * `podPath` is where the pod stands in the object (empty for a Pod), for annotations.
 */
export function patchOf(object: unknown, changes: readonly Change[], podPath: Path): readonly PatchOperation[] {
  const patch: PatchOperation[] = [];
  const created = new Set<string>();

  const add = (path: Path, value: unknown) => {
    let here: unknown = object;
    let location = '';
    for (const [depth, part] of path.entries()) {
      if (depth > podPath.length && !created.has(location) && !canHold(here, part)) {
        created.add(location);
        patch.push({ op: 'add', path: location, value: part === '-' ? [] : {} });
      }
      location += `/${escaped(part)}`;
      here = child(here, part);
    }
    patch.push({ op: 'add', path: location, value });
  };
  const remove = (path: Path) => {
    const parent = asObject(at(object, path.slice(0, -1)));
    const key = path.at(-1);
    if (parent && typeof key === 'string' && Object.hasOwn(parent, key))
      patch.push({ op: 'remove', path: pointer(path) });
  };
  const resource = ({ path }: ContainerAt, list: 'limits' | 'requests', name: string) => [
    ...path,
    'resources',
    list,
    name,
  ];

  const requirements = changes.flatMap((change) => (change.type === 'require-node' ? [change.requirement] : []));
  if (requirements.length > 0) requireNodes(object, requirements, podPath, add);
  for (const change of changes) {
    switch (change.type) {
      case 'require-node':
        break;
      case 'add-toleration':
        add([...podPath, 'spec', 'tolerations', '-'], change.toleration);
        break;
      case 'set-request':
        add(resource(change.container, 'requests', change.resource), change.quantity);
        break;
      case 'rename-resource':
        for (const list of ['limits', 'requests'] as const) {
          remove(resource(change.container, list, change.from));
          add(resource(change.container, list, change.to), change.quantity);
        }
        break;
      case 'drop-resource':
        remove(resource(change.container, 'limits', change.resource));
        remove(resource(change.container, 'requests', change.resource));
        break;
      case 'set-env': {
        const env = [...change.container.path, 'env'];
        const entry = { name: change.name, value: change.value };
        const index = asArray(at(object, env)).findLastIndex((candidate) => asObject(candidate)?.name === change.name);
        // The whole entry is replaced, so that a valueFrom goes with it.
        if (index >= 0) patch.push({ op: 'replace', path: pointer([...env, index]), value: entry });
        else add([...env, '-'], entry);
        break;
      }
      case 'set-runtime-class':
        add([...podPath, 'spec', 'runtimeClassName'], change.name);
        break;
      case 'set-annotation':
        add([...podPath, 'metadata', 'annotations', change.name], change.value);
        break;
    }
  }
  return patch;
}

/** Alternatives are joined by OR, so that every one gets the expressions; a pod without any gets a first one. */
function requireNodes(
  object: unknown,
  requirements: readonly NodeRequirement[],
  podPath: Path,
  add: (path: Path, value: unknown) => void,
): void {
  const path = [...podPath, 'spec', 'affinity', 'nodeAffinity', 'requiredDuringSchedulingIgnoredDuringExecution'];
  const spec = asObject(at(object, [...podPath, 'spec'])) ?? {};
  const terms = nodeSelectorTerms(spec);
  if (!terms) add([...path, 'nodeSelectorTerms'], [{ matchExpressions: requirements }]);
  for (const [index, term] of (terms ?? []).entries()) {
    if (isEmptyTerm(term)) continue;
    const missing = requirements.filter((requirement) => !termRequires(term, requirement));
    for (const requirement of missing) add([...path, 'nodeSelectorTerms', index, 'matchExpressions', '-'], requirement);
  }
}

/** A JSON Pointer (RFC 6901). */
export function pointer(path: Path): string {
  return path.map((part) => `/${escaped(part)}`).join('');
}

/** `~` is escaped before `/`, so that `nvidia.com/gpu` becomes `nvidia.com~1gpu`. */
function escaped(part: string | number): string | number {
  if (typeof part === 'number' || !(part.includes('/') || part.includes('~'))) return part;
  return part.replaceAll('~', '~0').replaceAll('/', '~1');
}

function at(value: unknown, path: Path): unknown {
  return path.reduce(child, value);
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
