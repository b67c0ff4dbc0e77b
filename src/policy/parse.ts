import type { z } from 'zod';

/**
 * What `schema` makes of any JSON or YAML value, without ever throwing. zod's length checks (4.6, core/checks.ts) look at
 * whatever has a `length`, before its type is complained of, and comparing one that is an object can throw; such keys
 * are looked past, since no document of ours has one.
 */
export function parse<T>(schema: z.ZodType<T>, value: unknown): z.ZodSafeParseResult<T> {
  try {
    return schema.safeParse(value);
  } catch {
    const plain = JSON.stringify(value, (key, held) => (key === 'length' ? undefined : held));
    return schema.safeParse(plain === undefined ? undefined : JSON.parse(plain));
  }
}
