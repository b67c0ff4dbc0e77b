import type { Change, ContainerAt } from './findings.ts';
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
    for (let depth = podPath.length + 1; depth < path.length; depth++) {
      const parent = path.slice(0, depth);
      const key = pointer(parent);
      if (created.has(key) || isContainerOf(at(object, parent), path[depth])) continue;
      created.add(key);
      patch.push({ op: 'add', path: key, value: path[depth] === '-' ? [] : {} });
    }
    patch.push({ op: 'add', path: pointer(path), value });
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

  for (const change of changes) {
    switch (change.type) {
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
      case 'set-annotation':
        add([...podPath, 'metadata', 'annotations', change.name], change.value);
        break;
    }
  }
  return patch;
}

/** A JSON Pointer (RFC 6901): `~` is escaped before `/`, so that `nvidia.com/gpu` becomes `nvidia.com~1gpu`. */
export function pointer(path: Path): string {
  return path.map((part) => `/${String(part).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');
}

function at(value: unknown, path: Path): unknown {
  return path.reduce<unknown>((here, part) => {
    if (typeof part === 'number') return asArray(here)[part];
    const object = asObject(here);
    return object && Object.hasOwn(object, part) ? object[part] : undefined;
  }, value);
}

/** Whether a value can hold the next part of a path: an array for an index or `-`, an object for a key. */
function isContainerOf(value: unknown, next: string | number | undefined): boolean {
  return typeof next === 'number' || next === '-' ? Array.isArray(value) : asObject(value) !== undefined;
}
