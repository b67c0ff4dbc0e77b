import { LineCounter, parseDocument } from 'yaml';
import { z } from 'zod';
import {
  TEMPLATE_KINDS,
  type TemplateKind,
  type TemplateKinds,
  withTemplateKinds,
} from '../admission/template-kinds.ts';
import { pathSteps } from '../admission/templates.ts';
import { readGiven } from '../files/unread.ts';
import { yamlMistake } from '../files/yaml-mistake.ts';
import { mistakeText, which } from '../policy/mistakes.ts';
import { parse } from '../policy/parse.ts';
import { orInput } from './sources.ts';

const path = z.string().refine((text) => pathSteps(text) !== undefined, {
  error: ({ input }) =>
    `is ${JSON.stringify(input)}, which is no path; write one such as spec.template, spec.replicaSpecs.*.template or spec.tasks[*].template`,
});

const kindSchema = z
  .strictObject({
    group: z
      .string()
      .regex(
        /^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*)?$/,
        which('is no API group such as example.com'),
      ),
    kind: z.string().regex(/^[A-Z][A-Za-z0-9]*$/, which('is no kind such as TrainingRun')),
    plural: z
      .string()
      .regex(/^[a-z]([-a-z0-9]*[a-z0-9])?$/, which('is no resource such as trainingruns, in small letters')),
    paths: z.array(path).min(1, 'is empty; name the fields that hold pod templates'),
    runsOnce: z.boolean().optional(),
  })
  .superRefine(({ group, kind }, context) => {
    const same = TEMPLATE_KINDS.find((other) => other.group === group && other.kind === kind);
    const issue = (message: string) => context.addIssue({ code: 'custom', path: ['kind'], message });
    if (same?.builtIn) issue(`is ${kind}, which is built in; its templates are known`);
    if (group === '' && kind === 'Pod') issue('is Pod, which is judged itself; it holds no template');
  })
  .transform(({ runsOnce, ...kind }): TemplateKind => ({ ...kind, ...(runsOnce === undefined ? {} : { runsOnce }) }));

/** The catalogue, with the kinds of a file that was given. */
export async function openTemplateKinds(file: string | undefined): Promise<TemplateKinds> {
  if (file === undefined) return withTemplateKinds();
  return withTemplateKinds(await orInput(readGiven(file).then((text) => parseTemplateKinds(file, text))));
}

/**
 * Kinds that hold pod templates: a YAML list of `group`, `kind`, `plural`, `paths`, and `runsOnce` where what it runs can't be
 * changed later.
 * @throws Error with one line `file:line: field and what` for each mistake.
 */
export function parseTemplateKinds(file: string, text: string): readonly TemplateKind[] {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false, merge: true });
  const lineAt = (offset: number) => lines.linePos(offset).line;
  const stop = (mistakes: readonly string[]) => {
    if (mistakes.length > 0) throw new Error(mistakes.join('\n'));
  };
  stop(document.errors.map((error) => `${file}:${lineAt(error.pos[0])}: ${yamlMistake(error, text)}`));
  /** The line of the field, or of the nearest one around it when it is missing. */
  const lineOf = (at: readonly PropertyKey[]): number => {
    for (let length = at.length; length > 0; length -= 1) {
      const node = document.getIn(at.slice(0, length), true) as { range?: [number, ...unknown[]] } | undefined;
      if (node?.range) return lineAt(node.range[0]);
    }
    return 1;
  };
  let content: unknown;
  try {
    content = document.toJS();
  } catch (error) {
    throw new Error(`${file}: ${(error as Error).message}`); // Too many aliases.
  }
  const read = parse(
    z.array(kindSchema, 'is not a list; write one entry with group, kind, plural and paths a kind'),
    content,
  );
  if (!read.success) {
    stop(read.mistakes.map((mistake) => `${file}:${lineOf(mistake.path)}: ${mistakeText(mistake)}`));
    return [];
  }
  const seen = new Map<string, number>();
  const twice: string[] = [];
  for (const [index, { group, kind }] of read.data.entries()) {
    const first = seen.get(`${group}/${kind}`);
    if (first !== undefined)
      twice.push(
        `${file}:${lineOf([index])}: [${index}].kind is ${kind} of ${group || 'the core group'}, which is already at line ${first}`,
      );
    seen.set(`${group}/${kind}`, lineOf([index]));
  }
  stop(twice);
  return read.data;
}
