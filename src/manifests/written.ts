import { stringify } from 'yaml';

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
