import { LineCounter, parseAllDocuments } from 'yaml';
import type { z } from 'zod';
import { quoted } from '../admission/shown.ts';
import { yamlMistake } from '../files/yaml-mistake.ts';
import { mistakeText } from './mistakes.ts';
import { parse } from './parse.ts';

/** One object of a manifest, and where it begins. */
interface ManifestObject<T> {
  readonly value: T;
  readonly line: number;
}

/** What a manifest holds, and what is wrong in it: one `file:line: field and what` for each mistake. */
export interface Manifest<T> {
  readonly objects: readonly ManifestObject<T>[];
  readonly mistakes: readonly string[];
}

type Path = readonly PropertyKey[];
type Report = (path: Path, text: string) => void;

/**
 * Reads a manifest as kubectl would take it: YAML of one or more documents, or JSON; each an object, or a List of them.
 * Every object must satisfy `schema`; keys it does not name are passed over.
 */
export function parseManifest<T>(file: string, text: string, kind: string, schema: z.ZodType<T>): Manifest<T> {
  const lines = new LineCounter();
  const objects: ManifestObject<T>[] = [];
  const mistakes: string[] = [];
  for (const document of parseAllDocuments(text, { lineCounter: lines, prettyErrors: false, merge: true })) {
    const lineAt = (offset: number) => lines.linePos(offset).line;
    if (document.errors.length > 0) {
      mistakes.push(...document.errors.map((error) => `${file}:${lineAt(error.pos[0])}: ${yamlMistake(error, text)}`));
      continue;
    }
    /** The line of the field, or of the nearest one around it when it is missing. */
    const lineOf = (path: Path): number => {
      for (let length = path.length; length > 0; length -= 1) {
        const node = document.getIn(path.slice(0, length), true) as { range?: [number, ...unknown[]] } | undefined;
        if (node?.range) return lineAt(node.range[0]);
      }
      return lineAt(document.contents?.range?.[0] ?? document.range?.[0] ?? 0);
    };
    const take = (value: unknown, path: Path) => {
      const report: Report = (at, what) => mistakes.push(`${file}:${lineOf([...path, ...at])}: ${what}`);
      const object = check(value, kind, schema, report);
      if (object !== undefined) objects.push({ value: object, line: lineOf(path) });
    };
    let content: unknown;
    try {
      content = document.toJS();
    } catch (error) {
      mistakes.push(`${file}: ${(error as Error).message}`); // Too many aliases.
      continue;
    }
    if (content === null || content === undefined) continue; // A document of comments, as between two `---`.
    const items = itemsOf(content);
    if (items) items.forEach((item, index) => void take(item, ['items', index]));
    else take(content, []);
  }
  return { objects, mistakes };
}

function itemsOf(content: unknown): readonly unknown[] | undefined {
  const { kind, items } = content as { kind?: unknown; items?: unknown };
  return typeof kind === 'string' && kind.endsWith('List') && Array.isArray(items) ? items : undefined;
}

function check<T>(value: unknown, kind: string, schema: z.ZodType<T>, report: Report): T | undefined {
  const found = (value as { kind?: unknown } | null)?.kind;
  if (found !== kind) {
    report(
      ['kind'],
      found === undefined ? `kind is missing; it is ${kind}` : `kind is ${quoted(found)}, which is not ${kind}`,
    );
    return undefined;
  }
  const result = parse(schema, value);
  if (result.success) return result.data;
  for (const mistake of result.mistakes) report(mistake.path, mistakeText(mistake));
  return undefined;
}
