/** Deeper than any real object; recursion beyond it would end with a stack overflow. */
const DEEPEST = 500;

/** Whether two JSON values are the same, whatever the order of their keys. What is nested too deeply is not. */
export function sameJson(a: unknown, b: unknown, depth = 0): boolean {
  if (a === b) return true;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
  if (Array.isArray(a) !== Array.isArray(b) || depth > DEEPEST) return false;
  const keys = Object.keys(a);
  if (keys.length !== Object.keys(b).length) return false;
  return keys.every((key) => Object.hasOwn(b, key) && sameJson((a as Json)[key], (b as Json)[key], depth + 1));
}

/** The value with another one at `path`. Shares what is not on the path; parents that are missing are made. */
export function withValue(value: unknown, path: readonly (string | number)[], replacement: unknown): unknown {
  const [part, ...rest] = path;
  if (part === undefined) return replacement;
  if (Array.isArray(value)) {
    return value.map((item, index) => (index === Number(part) ? withValue(item, rest, replacement) : item));
  }
  const object = typeof value === 'object' && value !== null ? (value as Json) : {};
  return { ...object, [part]: withValue(Object.hasOwn(object, part) ? object[part] : undefined, rest, replacement) };
}

type Json = Readonly<Record<string, unknown>>;
