import { isDeepStrictEqual } from 'node:util';

type Fields = Readonly<Record<string, unknown>>;

const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/**
 * What of an object is new, in the form of `patched`: only the fields that differ, null for one that is gone. A list of
 * the same length keeps `{}` for an object in it that is as it was; any other list is whole.
 */
export function changed(before: unknown, after: unknown): unknown {
  if (isFields(before) && isFields(after)) {
    const keys = [...new Set([...Object.keys(before), ...Object.keys(after)])];
    const differing = keys.filter((key) => !isDeepStrictEqual(before[key], after[key]));
    return Object.fromEntries(differing.map((key) => [key, changed(before[key], after[key])]));
  }
  if (Array.isArray(before) && Array.isArray(after) && before.length === after.length) {
    return after.map((item, index) => (isFields(item) ? changed(before[index], item) : item));
  }
  return after === undefined ? null : after;
}

/**
 * What an object holds now, in the form of `patched`: in those fields that `named` has, and where one of them is gone in what has come
 * beside it, since a field that was renamed is looked at under its new name. With `whole`, in every field that is new as well.
 */
export function lookedAt(named: unknown, before: unknown, after: unknown, whole = false): unknown {
  if (after === undefined) return null;
  if (isFields(named) && isFields(after)) {
    const had = isFields(before) ? before : {};
    const gone = Object.entries(named).some(([key, value]) => value !== null && after[key] === undefined);
    const differing = Object.keys(whole || gone ? { ...had, ...after } : {}).filter(
      (key) => !isDeepStrictEqual(had[key], after[key]),
    );
    // A name that only the old expectation knows says nothing beside the new one.
    const forgotten = (key: string) => differing.length > 0 && named[key] !== null && !(key in had) && !(key in after);
    const keys = [...new Set([...Object.keys(named).filter((key) => !forgotten(key)), ...differing])];
    const now = (key: string) =>
      key in named ? lookedAt(named[key], had[key], after[key], whole) : changed(had[key], after[key]);
    return Object.fromEntries(keys.map((key) => [key, now(key)]));
  }
  if (Array.isArray(named) && Array.isArray(after) && named.length === after.length) {
    const had = Array.isArray(before) && before.length === after.length ? before : [];
    return after.map((item, index) => lookedAt(named[index], had[index], item, whole));
  }
  return after;
}
