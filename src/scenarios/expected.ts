import { LineCounter, parseDocument } from 'yaml';
import { z } from 'zod';
import { readGiven } from '../files/unread.ts';
import { yamlMistake } from '../files/yaml-mistake.ts';
import { mistakeText } from '../policy/mistakes.ts';
import { parse } from '../policy/parse.ts';

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
 * @throws Error with one line `file:line: field and what` for each mistake.
 */
export async function readExpected(file: string): Promise<Expected> {
  const lines = new LineCounter();
  const text = await readGiven(file);
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false });
  const at = (offset: number) => `${file}:${lines.linePos(offset).line}`;
  if (document.errors.length > 0) {
    throw new Error(document.errors.map((error) => `${at(error.pos[0])}: ${yamlMistake(error, text)}`).join('\n'));
  }
  const read = parse(expectedSchema, document.toJS());
  if (read.success) return read.data;
  const mistakes = read.mistakes.map((mistake) => {
    const node = document.getIn(mistake.path, true) as { range?: [number, ...unknown[]] } | undefined;
    return `${at(node?.range?.[0] ?? 0)}: ${mistakeText(mistake)}`;
  });
  throw new Error(mistakes.join('\n'));
}
