import { readFile } from 'node:fs/promises';
import { LineCounter, parseDocument } from 'yaml';
import { z } from 'zod';

/** What `expected.yaml` says. Its fields are explained to their authors in docs/testing-policies.md. */
export const expectedSchema = z.strictObject({
  description: z.string(),
  /** For ephemeral containers: `ephemeralcontainers`. */
  subResource: z.string().optional(),
  /** Which webhook is asked first. A template's arithmetic is refused by `mutate`; its preview is what `validate` gives. */
  webhook: z.enum(['mutate', 'validate']).default('mutate'),
  allowed: z.boolean(),
  /** All findings, in order. */
  findings: z
    .array(
      z.strictObject({
        code: z.string(),
        severity: z.string(),
        field: z.string().optional(),
        value: z.string().optional(),
        container: z.string().optional(),
      }),
    )
    .default([]),
  /** Codes of the changes, made or announced, without repetition. */
  changes: z.array(z.string()).default([]),
  /** The whole text of the denial. */
  message: z.string().optional(),
  warnings: z.array(z.string()).optional(),
  /** The object after the patch. Fields that are not named may be anything, a field that is null must be absent, and a list is whole. */
  patched: z.record(z.string(), z.unknown()).optional(),
  /** True if the object comes out as it went in: announced changes are not made. */
  untouched: z.boolean().default(false),
  /** The validating webhook's verdict on the patched object; true unless said otherwise. */
  validated: z.boolean().default(true),
});

export type Expected = z.output<typeof expectedSchema>;

/**
 * Reads an `expected.yaml`.
 * @throws Error with one line `file:line: field: what` for each mistake.
 */
export async function readExpected(file: string): Promise<Expected> {
  const lines = new LineCounter();
  const document = parseDocument(await readFile(file, 'utf8'), { lineCounter: lines, prettyErrors: false });
  const at = (offset: number) => `${file}:${lines.linePos(offset).line}`;
  if (document.errors.length > 0) {
    throw new Error(document.errors.map(({ message, pos }) => `${at(pos[0])}: ${message}`).join('\n'));
  }
  const read = expectedSchema.safeParse(document.toJS());
  if (read.success) return read.data;
  const mistakes = read.error.issues.map(({ path, message }) => {
    const node = document.getIn(path, true) as { range?: [number, ...unknown[]] } | undefined;
    return `${at(node?.range?.[0] ?? 0)}: ${path.length > 0 ? `${z.core.toDotPath(path)}: ` : ''}${message}`;
  });
  throw new Error(mistakes.join('\n'));
}
