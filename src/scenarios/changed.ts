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

/** What an object holds now in those fields that `named` has, in the form of `patched`. */
export function inFieldsOf(named: unknown, actual: unknown): unknown {
  if (actual === undefined) return null;
  if (isFields(named) && isFields(actual)) {
    return Object.fromEntries(Object.entries(named).map(([key, value]) => [key, inFieldsOf(value, actual[key])]));
  }
  if (Array.isArray(named) && Array.isArray(actual) && named.length === actual.length) {
    return actual.map((item, index) => inFieldsOf(named[index], item));
  }
  return actual;
}
