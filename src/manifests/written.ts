import { isMap, type Node, stringify } from 'yaml';

/** How values are written in one place of a text. */
export interface Style {
  /** JSON: every key and text in double quotes. */
  readonly json: boolean;
  /** Within `{}` or `[]`. */
  readonly flow: boolean;
  /** Spaces a level is indented by. */
  readonly indent: number;
  /** Whether items of a list stand further in than the key above them. */
  readonly indentSeq: boolean;
  readonly newline: string;
}

/** A value in one line: within `{}` and `[]`, or a plain one. */
export function inline(value: unknown, { json, flow }: Pick<Style, 'json' | 'flow'>): string {
  if (json) return JSON.stringify(value);
  const text = stringify(value, { collectionStyle: 'flow', lineWidth: 0 }).trimEnd();
  // A plain text of several words is a plain text in flow too, unless it holds what ends it there.
  const ends = typeof value === 'string' && flow && /[,[\]{}]/.test(text) && !/^["']/.test(text);
  return ends ? JSON.stringify(value) : text;
}

/** A value over several lines, the first without indentation and the others with `column` spaces more. */
export function lines(value: unknown, column: number, { json, indent, indentSeq, newline }: Style): string {
  const text = json
    ? JSON.stringify(value, null, indent)
    : stringify(value, { indent, indentSeq, lineWidth: 0, aliasDuplicateObjects: false }).trimEnd();
  return text.replaceAll('\n', newline + ' '.repeat(column));
}

/** A key as it is written. */
export function keyText(key: string, style: Pick<Style, 'json' | 'flow'>): string {
  return inline(key, style);
}

/** What is written in one line even where maps have lines of their own. */
export function isPlain(value: unknown): boolean {
  return typeof value !== 'object' || value === null || Object.keys(value).length === 0;
}

/** How the file is written: what its first nested map and list show. */
export function styleOf(text: string, contents: Node | null): Style {
  const json = isMap(contents) && contents.flow === true && /^\s*\{\s*"/.test(text.slice(contents.range?.[0] ?? 0));
  const indent = json ? /\n( +|\t)"/.exec(text)?.[1]?.length : /\n( +)[^\s#-]/.exec(`\n${text}`)?.[1]?.length;
  const list = /\n( *)[\w./-]+:[ \t]*(?:#[^\n]*)?\r?\n( *)- /.exec(`\n${text}`);
  return {
    json,
    flow: json,
    indent: Math.min(indent ?? 2, 8),
    indentSeq: list ? (list[2]?.length ?? 0) > (list[1]?.length ?? 0) : true,
    newline: text.includes('\r\n') ? '\r\n' : '\n',
  };
}
