import { isCollection, isMap, isPair, isScalar, type Node, visit } from 'yaml';
import { yamlText } from '../files/yaml-text.ts';

/** How values are written in one place of a text. */
export interface Style {
  /** JSON: every key and text in double quotes. */
  readonly json: boolean;
  /** Within `{}` or `[]`. */
  readonly flow: boolean;
  /** What a level is indented by: spaces, in JSON perhaps a tab. */
  readonly indent: string;
  /** Whether items of a list stand further in than the key above them. */
  readonly indentSeq: boolean;
  readonly newline: string;
}

/** A value in one line: within `{}` and `[]`, or a plain one. */
export function inline(value: unknown, { json, flow }: Pick<Style, 'json' | 'flow'>): string {
  if (json) return JSON.stringify(value);
  const text = yamlText(value, { collectionStyle: 'flow', lineWidth: 0 }).trimEnd();
  // A plain text of several words is a plain text in flow too, unless it holds what ends it there.
  const ends = typeof value === 'string' && flow && /[,[\]{}]/.test(text) && !/^["']/.test(text);
  return ends ? JSON.stringify(value) : text;
}

/** A value over several lines, the first without indentation and the others with `before` more than their own. */
export function lines(value: unknown, before: string, { json, indent, indentSeq, newline }: Style): string {
  const text = json
    ? JSON.stringify(value, null, indent)
    : yamlText(value, { indent: indent.length, indentSeq, lineWidth: 0, aliasDuplicateObjects: false }).trimEnd();
  return text.replaceAll('\n', newline + before);
}

/** A key as it is written. */
export function keyText(key: string, style: Pick<Style, 'json' | 'flow'>): string {
  return inline(key, style);
}

/** What is written in one line even where maps have lines of their own. */
export function isPlain(value: unknown): boolean {
  return typeof value !== 'object' || value === null || Object.keys(value).length === 0;
}

/** How a document is written: what its first nested map and list show. */
export function styleOf(text: string, contents: Node | null): Style {
  const json = isMap(contents) && contents.flow === true && /^\s*\{\s*"/.test(text.slice(contents.range?.[0] ?? 0));
  const { indent, indentSeq } = blocksOf(text, contents);
  return {
    json,
    flow: json,
    indent: (json && /\n( {1,8}|\t)"/.exec(text)?.[1]) || ' '.repeat(Math.min(indent, 8)),
    indentSeq,
    newline: text.includes('\r\n') ? '\r\n' : '\n',
  };
}

/** How far the first map below a key, and the first list, stand further in than the key. */
function blocksOf(text: string, contents: Node | null): { readonly indent: number; readonly indentSeq: boolean } {
  const columnOf = (offset: number) => offset - (text.lastIndexOf('\n', offset - 1) + 1);
  let indent: number | undefined;
  let indentSeq: boolean | undefined;
  visit(contents, {
    Pair(_, { key, value }) {
      if (!isScalar(key) || !key.range || !isCollection(value) || value.flow || !value.range) return undefined;
      const first = value.items[0];
      const start = isPair(first) && isScalar(first.key) ? first.key.range?.[0] : value.range[0];
      const further = columnOf(start ?? 0) - columnOf(key.range[0]);
      if (!isMap(value)) indentSeq ??= further > 0;
      else if (further > 0) indent ??= further;
      return indent !== undefined && indentSeq !== undefined ? visit.BREAK : undefined;
    },
  });
  return { indent: indent ?? 2, indentSeq: indentSeq ?? true };
}
