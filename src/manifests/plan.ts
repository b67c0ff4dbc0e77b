import jsonpatch from 'fast-json-patch';
import type { PatchOperation } from '../admission/patch.ts';
import { asArray, asObject } from '../admission/pod.ts';
import { valueAt } from '../admission/templates.ts';

type Path = readonly (string | number)[];

/** One edit of an object's text. All edits of a plan are of the text as it is: none is within what another one makes. */
export type Edit =
  /** A new key of a map that has some, or a new item at the end of a list that has some. */
  | { readonly type: 'add'; readonly parent: Path; readonly key?: string; readonly value: unknown }
  | { readonly type: 'set'; readonly path: Path; readonly value: unknown }
  | { readonly type: 'remove'; readonly path: Path }
  /** Another key for a value that stays. */
  | { readonly type: 'rename'; readonly path: Path; readonly key: string };

/** Turns a JSON Patch of an object into edits: parents that the patch makes are filled before they are written. */
export function planOf(object: unknown, operations: readonly PatchOperation[]): readonly Edit[] {
  const edits: Edit[] = [];
  const holders: { readonly pointer: string; readonly holder: { value: unknown } }[] = [];
  const put = (pointer: string, edit: { readonly type: 'add' | 'set'; value: unknown } & Edit) => {
    const again = edits.findIndex((other) => other.type === 'remove' && pointerOf(other.path) === pointer);
    if (again >= 0) edits.splice(again, 1);
    edits.push(edit);
    holders.push({ pointer, holder: edit });
  };
  for (const operation of operations) {
    const inside = holders.findLast(({ pointer }) => operation.path.startsWith(`${pointer}/`));
    if (inside) {
      const rest = { ...operation, path: operation.path.slice(inside.pointer.length) } as jsonpatch.Operation;
      inside.holder.value = jsonpatch.applyPatch(inside.holder.value, [structuredClone(rest)]).newDocument;
      continue;
    }
    const path = stepsOf(object, operation.path);
    if (operation.op === 'remove') {
      edits.push({ type: 'remove', path });
      continue;
    }
    const { value } = structuredClone(operation);
    const parent = path.slice(0, -1);
    const key = path.at(-1) ?? '';
    const there = valueAt(object, parent);
    if (isEmpty(there) && parent.length > 0) {
      const filled = Array.isArray(there) ? [value] : { [key]: value };
      put(pointerOf(parent), { type: 'set', path: parent, value: filled });
    } else if (Array.isArray(there) && (key === '-' || Number(key) >= there.length)) {
      put(operation.path.replace(/-$/, String(there.length)), { type: 'add', parent, value });
    } else if (operation.op === 'replace' || (asObject(there) && Object.hasOwn(there as object, key))) {
      put(operation.path, { type: 'set', path, value });
    } else put(operation.path, { type: 'add', parent, key: String(key), value });
  }
  return withRenames(object, edits);
}

/** A key that goes and another one that comes into the same map are one that is renamed. */
function withRenames(object: unknown, edits: readonly Edit[]): readonly Edit[] {
  const left = [...edits];
  for (const removed of edits) {
    if (removed.type !== 'remove') continue;
    const { path } = removed;
    const index = left.findIndex(
      (edit) => edit.type === 'add' && edit.key !== undefined && samePath(edit.parent, path.slice(0, -1)),
    );
    const added = left[index];
    if (added?.type !== 'add' || added.key === undefined) continue;
    const { key, value } = added;
    // A count keeps its spelling: 1 and "1" are the same quantity.
    const same = String(value) === String(valueAt(object, path));
    left.splice(index, 1, ...(same ? [] : [{ type: 'set' as const, path, value }]), { type: 'rename', path, key });
    left.splice(left.indexOf(removed), 1);
  }
  return left;
}

function samePath(a: Path, b: Path): boolean {
  return a.length === b.length && a.every((part, index) => part === b[index]);
}

/** What holds nothing yet; one with a null or {} is written anew. */
function isEmpty(value: unknown): boolean {
  if (Array.isArray(value)) return value.length === 0;
  return typeof value === 'object' && value !== null && Object.keys(value).length === 0;
}

/** The steps of a JSON Pointer; those into lists as numbers, but for `-`. */
function stepsOf(object: unknown, pointer: string): Path {
  const steps: (string | number)[] = [];
  for (const part of pointer.split('/').slice(1)) {
    const step = part.replaceAll('~1', '/').replaceAll('~0', '~');
    steps.push(Array.isArray(valueAt(object, steps)) && step !== '-' ? Number(step) : step);
  }
  return steps;
}

function pointerOf(path: Path): string {
  return path.map((part) => `/${String(part).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');
}

/** The object after the edits, as its text is to be read. */
export function afterEdits(object: unknown, edits: readonly Edit[]): unknown {
  const result = structuredClone(object);
  for (const edit of edits) {
    const path = edit.type === 'add' ? edit.parent : edit.path.slice(0, -1);
    const last = edit.type === 'add' ? edit.key : edit.path.at(-1);
    const parent = valueAt(result, path);
    const list = asArray(parent) as unknown[];
    const map = (asObject(parent) ?? {}) as Record<string | number, unknown>;
    if (edit.type === 'add' && edit.key === undefined) list.push(edit.value);
    else if (last === undefined) continue;
    else if (edit.type === 'remove') delete map[last];
    else if (edit.type === 'rename') {
      map[edit.key] = map[last];
      delete map[last];
    } else if (Array.isArray(parent)) list[Number(last)] = edit.value;
    else map[last] = edit.value;
  }
  return result;
}
