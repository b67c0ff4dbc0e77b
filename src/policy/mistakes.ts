import { closest, distance } from 'fastest-levenshtein';
import type { z } from 'zod';
import { fieldPath } from '../admission/pod.ts';
import { quoted } from '../admission/shown.ts';

/** What is wrong with one field of a document that people write. */
export interface Mistake {
  readonly path: readonly PropertyKey[];
  /** The end of a sentence that begins with the field: `is missing; it is true or false`. */
  readonly message: string;
  /** What to do about it, a sentence; empty where the message says it. */
  readonly fix: string;
  /** What a schema says beside it. */
  readonly params?: Readonly<Record<string, unknown>>;
}

/** `spec.sharing is "migg", which is not one of exclusive, time-slicing, mps, mig. Did you mean mig?` */
export function mistakeText({ path, message, fix }: Mistake): string {
  return `${fieldOf(path)} ${message}${fix === '' ? '' : `. ${fix}`}`.trimStart();
}

/** `spec.mig.allowedProfiles[1]` */
export function fieldOf(path: readonly PropertyKey[]): string {
  return fieldPath(path.map((part) => (/^\d+$/.test(String(part)) ? Number(part) : String(part))));
}

/** For a schema's own message about a value: `is "Small", which is no profile`. */
export function which(what: string): { readonly error: (issue: { readonly input?: unknown }) => string } {
  return { error: ({ input }) => (input === undefined ? 'is missing' : `is ${quoted(input)}, which ${what}`) };
}

/** The name that a misspelt one probably means. */
export function nearName(name: string, known: readonly string[]): string | undefined {
  if (known.length === 0) return undefined;
  const nearest = closest(name, known);
  return distance(name, nearest) <= (nearest.length < 4 ? 1 : nearest.length < 10 ? 2 : 3) ? nearest : undefined;
}

/** What zod found, in our words, where the schema has none of its own. Of fields that are not known one mistake each. */
export function mistakesOf(issue: z.core.$ZodIssue, known: readonly string[] = []): readonly Mistake[] {
  const { path, message } = issue;
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((key) => ({
      path: [...path, key],
      message: 'is not a field that gpugate knows',
      fix: didYouMean(key, known) ?? (known.length === 0 ? 'Leave it out.' : `Known are ${known.join(', ')}.`),
    }));
  }
  const { fix = '', ...params } = issue.code === 'custom' ? (issue.params ?? {}) : {};
  return [{ path, message, fix: issue.code === 'invalid_value' ? fixOfValue(issue) : String(fix), params }];
}

/** The message of an issue that a schema has no words for. */
export function messageOf(issue: z.core.$ZodRawIssue): string {
  const { code, input } = issue;
  if (code === 'too_small') return tooSmall(issue);
  if (code === 'too_big') return tooBig(issue);
  const right = rightFor(issue);
  if (input === undefined) return right === undefined ? 'is missing' : `is missing; it is ${right}`;
  return `is ${quoted(input)}, which is not ${right ?? 'understood'}`;
}

const TYPES: Readonly<Record<string, string>> = {
  string: 'a text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'a map',
  record: 'a map',
};

function rightFor(issue: z.core.$ZodRawIssue): string | undefined {
  if (issue.code === 'invalid_type') return TYPES[String(issue.expected)];
  if (issue.code !== 'invalid_value') return undefined;
  const values = (issue.values as readonly unknown[]).map(String);
  return values.length === 1 ? values[0] : `one of ${values.join(', ')}`;
}

function tooSmall({ origin, minimum, input }: z.core.$ZodRawIssue): string {
  if (origin === 'array') return minimum === 1 ? 'is empty' : `has fewer than ${minimum} entries`;
  if (origin === 'string') return minimum === 1 ? 'is empty' : `is shorter than ${minimum} characters`;
  return `is ${quoted(input)}, which is less than ${minimum}`;
}

function tooBig({ origin, maximum, input }: z.core.$ZodRawIssue): string {
  if (origin === 'array') return `has more than ${maximum} entries`;
  if (origin === 'string') return `is longer than ${maximum} characters`;
  return `is ${quoted(input)}, which is more than ${maximum}`;
}

function fixOfValue({ values, input }: z.core.$ZodIssueInvalidValue): string {
  // kubectl reads YAML 1.1, where a bare off is false.
  if (input === false && values.includes('off')) return 'Write "off" in quotes.';
  return typeof input === 'string' ? (didYouMean(input, values.map(String)) ?? '') : '';
}

/** The question after a misspelt name; undefined where no name is near. */
export function didYouMean(name: string, known: readonly string[]): string | undefined {
  const near = nearName(name, known);
  return near === undefined ? undefined : `Did you mean ${near}?`;
}
