import type { z } from 'zod';
import { type Mistake, messageOf, mistakesOf } from './mistakes.ts';

export type Parsed<T> =
  | { readonly success: true; readonly data: T }
  | { readonly success: false; readonly mistakes: readonly Mistake[] };

/**
 * What `schema` makes of any JSON or YAML value, without ever throwing. zod's length checks (4.6, core/checks.ts) look at
 * whatever has a `length`, before its type is complained of, and comparing one that is an object can throw; such keys
 * are looked past, since no document of ours has one.
 */
export function parse<T>(schema: z.ZodType<T>, value: unknown): Parsed<T> {
  /** The fields that there are, by the list of those that there are not. */
  const known = new Map<unknown, readonly string[]>();
  const error = (issue: z.core.$ZodRawIssue) => {
    const { shape } = (issue.inst?._zod.def ?? {}) as { shape?: object };
    if (issue.code === 'unrecognized_keys') known.set(issue.keys, Object.keys(shape ?? {}));
    return messageOf(issue);
  };
  const read = (from: unknown) => schema.safeParse(from, { error, reportInput: true });
  let result: z.ZodSafeParseResult<T>;
  try {
    result = read(value);
  } catch {
    const plain = JSON.stringify(value, (key, held) => (key === 'length' ? undefined : held));
    result = read(plain === undefined ? undefined : JSON.parse(plain));
  }
  if (result.success) return { success: true, data: result.data };
  const mistakes = result.error.issues.flatMap((issue) =>
    mistakesOf(issue, issue.code === 'unrecognized_keys' ? known.get(issue.keys) : undefined),
  );
  return { success: false, mistakes };
}
