import { isDeepStrictEqual } from 'node:util';
import type { Expected } from './expected.ts';
import type { Outcome } from './outcome.ts';

/** Where the outcome is not what was expected: one line for each field, none when all is as it should be. */
export function compare(expected: Expected, outcome: Outcome): readonly string[] {
  const { answer } = outcome.judgement;
  return [
    ...verdict('allowed', expected.allowed, answer.allowed, answer.message),
    ...comparedFindings(expected.findings, outcome),
    ...lists('changes', expected.changes, outcome.changes),
    ...(expected.message === undefined ? [] : texts('message', [expected.message], [answer.message ?? ''])),
    ...(expected.warnings === undefined ? [] : texts('warnings', expected.warnings, answer.warnings)),
    ...(expected.patched === undefined ? [] : differences(expected.patched, outcome.after, 'patched')),
    ...(expected.untouched && !isDeepStrictEqual(outcome.before, outcome.after)
      ? [
          `untouched: expected no change, found ${(answer.patch ?? []).map(({ op, path }) => `${op} ${path}`).join(', ')}`,
        ]
      : []),
    ...comparedNext(expected, outcome),
  ];
}

function comparedFindings(expected: Expected['findings'], { findings }: Outcome): readonly string[] {
  const short = ({ code, severity }: { readonly code: string; readonly severity: string }) => `${code} ${severity}`;
  const kinds = lists('findings', expected.map(short), findings.map(short));
  if (kinds.length > 0) return kinds;
  return expected.flatMap(({ field, value, container }, index) => {
    const found = findings[index];
    const parts = [
      ['field', field, found?.field],
      ['value', value, found?.value],
      ['container', container, found?.container?.name],
    ] as const;
    return parts
      .filter(([, wanted, is]) => wanted !== undefined && wanted !== is)
      .map(([part, wanted, is]) => `findings[${index}].${part}: expected ${shown(wanted)}, found ${shown(is)}`);
  });
}

/** What comes out must come out of a second round as it is, and be what the validating webhook expects. */
function comparedNext(expected: Expected, { next }: Outcome): readonly string[] {
  if (!next) return [];
  const { mutate, validate } = next;
  const again = (mutate.answer.patch ?? []).map(({ op, path }) => `${op} ${path}`);
  return [
    ...(again.length > 0 ? [`a second round changes the object again: ${again.join(', ')}`] : []),
    ...verdict('validated', expected.validated, validate.answer.allowed, validate.answer.message),
  ];
}

function verdict(field: string, expected: boolean, found: boolean, message: string | undefined): readonly string[] {
  if (expected === found) return [];
  return [`${field}: expected ${expected}, found ${found}${message === undefined ? '' : `: ${message}`}`];
}

function lists(field: string, expected: readonly string[], found: readonly string[]): readonly string[] {
  const written = (items: readonly string[]) => (items.length === 0 ? 'none' : items.join(', '));
  return isDeepStrictEqual(expected, found) ? [] : [`${field}: expected ${written(expected)}; found ${written(found)}`];
}

function texts(field: string, expected: readonly string[], found: readonly string[]): readonly string[] {
  if (isDeepStrictEqual(expected, found)) return [];
  return [
    `${field}: other text`,
    ...expected.filter((text) => !found.includes(text)).map((text) => `  expected ${shown(text)}`),
    ...found.filter((text) => !expected.includes(text)).map((text) => `  found    ${shown(text)}`),
  ];
}

/** Where an object lacks what is expected. Fields that are not named may be anything, null means none, lists are whole. */
function differences(expected: unknown, actual: unknown, path: string): readonly string[] {
  if (expected === null) return actual === undefined ? [] : [`${path}: expected none, found ${shown(actual)}`];
  if (typeof expected !== 'object') {
    return expected === actual ? [] : [`${path}: expected ${shown(expected)}, found ${shown(actual)}`];
  }
  if (typeof actual !== 'object' || actual === null || Array.isArray(expected) !== Array.isArray(actual)) {
    return [`${path}: expected ${shown(expected)}, found ${shown(actual)}`];
  }
  if (Array.isArray(expected) && Array.isArray(actual) && expected.length !== actual.length) {
    return [`${path}: expected ${expected.length} items, found ${actual.length}: ${shown(actual)}`];
  }
  return Object.entries(expected).flatMap(([key, value]) =>
    differences(value, (actual as Readonly<Record<string, unknown>>)[key], `${path}${step(key)}`),
  );
}

/** `.name`, `[0]` or `[nvidia.com/gpu]`. */
function step(key: string): string {
  return /^[A-Za-z_][\w-]*$/.test(key) ? `.${key}` : `[${key}]`;
}

function shown(value: unknown): string {
  return value === undefined ? 'none' : JSON.stringify(value);
}
