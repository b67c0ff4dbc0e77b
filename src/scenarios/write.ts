import { isDeepStrictEqual } from 'node:util';
import { isMap, isNode, isScalar, parseDocument, stringify } from 'yaml';
import type { Finding } from '../admission/findings.ts';
import type { Webhook } from '../server/judge.ts';
import { changed, lookedAt } from './changed.ts';
import type { Expected } from './expected.ts';
import type { Outcome } from './outcome.ts';

const STYLE = { lineWidth: 120, aliasDuplicateObjects: false } as const;

/**
 * The text of an `expected.yaml` with what came out in the place of what was expected. Every other byte stays, and so does the
 * choice of what is looked at: a message, warnings and fields of the object are only written where they were asked for. A field
 * that is gone brings those that have come in its place, and other changes than expected bring all that they changed.
 */
export function updated(text: string, expected: Expected, outcome: Outcome): string {
  const { answer } = outcome.judgement;
  let edited = text;
  const set = (field: keyof Expected, value: unknown, standard?: unknown) => {
    if (isDeepStrictEqual(expected[field], value)) return;
    edited = withField(edited, field, isDeepStrictEqual(value, standard) ? undefined : value);
  };
  set('allowed', answer.allowed);
  set('findings', updatedFindings(expected.findings, outcome.findings), []);
  set('changes', outcome.changes, []);
  if (expected.message !== undefined) set('message', answer.message);
  if (expected.warnings !== undefined) set('warnings', answer.warnings);
  const { before, after } = outcome;
  const untouched = isDeepStrictEqual(before, after);
  const otherChanges = !isDeepStrictEqual(expected.changes, outcome.changes);
  if (expected.patched !== undefined) set('patched', lookedAt(expected.patched, before, after, otherChanges));
  else if (expected.untouched && !untouched) set('patched', changed(before, after));
  if (expected.untouched) set('untouched', untouched, false);
  if (outcome.next) set('validated', outcome.next.validate.answer.allowed, true);
  return edited;
}

/** A document with another value in one field of its top, without the field where the value is undefined. */
function withField(text: string, field: string, value: unknown): string {
  const document = parseDocument(text);
  const { contents } = document;
  if (!isMap(contents) || contents.flow) {
    if (value === undefined) document.delete(field);
    else document.set(field, value);
    return document.toString(STYLE);
  }
  const lines = value === undefined ? '' : stringify({ [field]: value }, STYLE);
  const pair = contents.items.find(({ key }) => isScalar(key) && key.value === field);
  if (!pair) return `${text}${text.endsWith('\n') ? '' : '\n'}${lines}`;
  const start = rangeOf(pair.key)[0];
  // The end of a block is past its last line, that of anything else is before the comment on its line.
  const end = rangeOf(pair.value)[1];
  if (value === undefined) return text.slice(0, start) + text.slice(text.indexOf('\n', end - 1) + 1 || text.length);
  return text.slice(0, start) + (text[end - 1] === '\n' ? lines : lines.trimEnd()) + text.slice(end);
}

function rangeOf(node: unknown): readonly [start: number, end: number, ...unknown[]] {
  const range = isNode(node) ? node.range : undefined;
  if (!range) throw new Error('a parsed YAML node has no place in its text');
  return range;
}

/** The same kinds of findings keep the parts that were looked at; others are written whole. */
function updatedFindings(expected: Expected['findings'], findings: readonly Finding[]): Expected['findings'] {
  const whole = findings.map(written);
  const same =
    expected.length === whole.length &&
    expected.every(({ code, severity }, index) => code === whole[index]?.code && severity === whole[index]?.severity);
  if (!same) return whole;
  return whole.map((finding, index) => {
    const parts = Object.entries(finding).filter(([part]) => part in (expected[index] ?? {}));
    return Object.fromEntries(parts) as typeof finding;
  });
}

/** The text of a new `expected.yaml`, with all that came out. */
export function firstExpected(
  { description, subResource, webhook }: { description: string; subResource?: string; webhook: Webhook },
  { judgement, findings, changes, before, after, next }: Outcome,
): string {
  const { answer } = judgement;
  const fields = {
    description,
    ...(subResource === undefined ? {} : { subResource }),
    ...(webhook === 'mutate' ? {} : { webhook }),
    allowed: answer.allowed,
    ...(findings.length > 0 ? { findings: findings.map(written) } : {}),
    ...(changes.length > 0 ? { changes } : {}),
    ...(answer.message === undefined ? {} : { message: answer.message }),
    warnings: answer.warnings,
    ...(isDeepStrictEqual(before, after) ? { untouched: true } : { patched: changed(before, after) }),
    ...(next?.validate.answer.allowed === false ? { validated: false } : {}),
  };
  return stringify(fields, STYLE);
}

function written({ code, severity, field, value, container }: Finding): Expected['findings'][number] {
  return {
    code,
    severity,
    ...(field === '' ? {} : { field }),
    ...(value === undefined ? {} : { value }),
    ...(container === undefined ? {} : { container: container.name }),
  };
}
