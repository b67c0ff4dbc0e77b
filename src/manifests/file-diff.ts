import { diffArrays } from 'diff';
import type { Change, Rewritten } from './spliced.ts';

/** Lines around a change that are shown as they are, as many as in the diff of an object. */
const CONTEXT = 4;

/** A text, and the byte order mark that may stand before it. */
interface Marked {
  readonly text: string;
  readonly mark: string;
}

/** Lines of a file that others take the place of. */
interface LineChange {
  /** Counted from 0. */
  readonly row: number;
  readonly removed: readonly string[];
  readonly added: readonly string[];
}

/**
 * A unified diff of a whole file, as `git apply` and `patch -p1` take it. `name` is relative to where they are run, `mark` stands
 * before both texts. Only what was changed is compared, so that a file with many objects costs no more than as many files.
 */
export function fileDiff(name: string, { text, mark }: Marked, after: Rewritten): string {
  const before = `${mark}${text}`;
  const lines = linesOf(before);
  const hunks: LineChange[][] = [];
  for (const change of lineChanges(lines, before, behind(mark, after))) {
    const last = hunks.at(-1)?.at(-1);
    if (last && change.row - last.row - last.removed.length <= 2 * CONTEXT) hunks.at(-1)?.push(change);
    else hunks.push([change]);
  }
  if (hunks.length === 0) return '';
  let shift = 0;
  const texts = hunks.map((changes) => {
    const text = hunkText(lines, changes, shift);
    for (const { removed, added } of changes) shift += added.length - removed.length;
    return text;
  });
  return `--- ${header(`a/${name}`)}\n+++ ${header(`b/${name}`)}\n${texts.join('')}`;
}

function behind(mark: string, { text, changes }: Rewritten): Rewritten {
  const by = mark.length;
  const moved = ({ start, end, newStart, newEnd }: Change): Change => {
    return { start: start + by, end: end + by, newStart: newStart + by, newEnd: newEnd + by };
  };
  return { text: `${mark}${text}`, changes: changes.map(moved) };
}

function* lineChanges(lines: readonly string[], before: string, after: Rewritten): Iterable<LineChange> {
  let [row, offset] = [0, 0];
  const rowAt = (wanted: number) => {
    for (; offset < wanted; row += 1) offset += lines[row]?.length ?? 0;
    return row;
  };
  for (const { start, end, newStart, newEnd } of onWholeLines(before, after)) {
    let at = rowAt(start);
    let change: { row: number; removed: readonly string[]; added: readonly string[] } | undefined;
    const parts = diffArrays(lines.slice(at, rowAt(end)), linesOf(after.text.slice(newStart, newEnd)));
    for (const { added, removed, value } of parts) {
      if (!added && !removed) {
        if (change) yield change;
        change = undefined;
      } else {
        change ??= { row: at, removed: [], added: [] };
        if (added) change.added = value;
        else change.removed = value;
      }
      if (!added) at += value.length;
    }
    if (change) yield change;
  }
}

/** Changes as those of whole lines; none touches another one. */
function onWholeLines(before: string, { text, changes }: Rewritten): readonly Change[] {
  const result: Change[] = [];
  for (const { start, end, newStart, newEnd } of changes) {
    const head = start - lineStart(before, start);
    // Lines that go whole leave the one behind them as it is.
    const isWhole = lineStart(before, end) === end && lineStart(text, newEnd) === newEnd;
    const tail = isWhole ? 0 : lineEnd(before, end) - end;
    const whole = { start: start - head, newStart: newStart - head, end: end + tail, newEnd: newEnd + tail };
    const last = result.at(-1);
    if (last && whole.start <= last.end) result[result.length - 1] = { ...last, end: whole.end, newEnd: whole.newEnd };
    else result.push(whole);
  }
  return result;
}

function hunkText(lines: readonly string[], changes: readonly LineChange[], shift: number): string {
  const [first, last] = [changes[0], changes.at(-1)];
  if (!first || !last) return '';
  const start = Math.max(0, first.row - CONTEXT);
  const end = Math.min(lines.length, last.row + last.removed.length + CONTEXT);
  const shown: string[] = [];
  const show = (sign: string, some: readonly string[]) => {
    for (const line of some)
      shown.push(line.endsWith('\n') ? sign + line : `${sign}${line}\n\\ No newline at end of file\n`);
  };
  let at = start;
  let grown = 0;
  for (const { row, removed, added } of changes) {
    show(' ', lines.slice(at, row));
    show('-', removed);
    show('+', added);
    at = row + removed.length;
    grown += added.length - removed.length;
  }
  show(' ', lines.slice(at, end));
  const range = (from: number, count: number) => `${count === 0 ? from : from + 1},${count}`;
  const count = end - start;
  return `@@ -${range(start, count)} +${range(start + shift, count + grown)} @@\n${shown.join('')}`;
}

/** A name as git writes and reads it in a header: quoted where it must be, and a tab ends one with a space in it. */
function header(name: string): string {
  const quoted = name.replace(/["\\\p{Cc}]/gu, (sign) => ESCAPES[sign] ?? octal(sign));
  return `${quoted === name ? name : `"${quoted}"`}${name.includes(' ') ? '\t' : ''}`;
}

const ESCAPES: Readonly<Record<string, string>> = { '"': '\\"', '\\': '\\\\', '\n': '\\n', '\t': '\\t', '\r': '\\r' };

function octal(sign: string): string {
  return [...Buffer.from(sign)].map((byte) => `\\${byte.toString(8).padStart(3, '0')}`).join('');
}

/** With their line ends. */
function linesOf(text: string): string[] {
  return text === '' ? [] : text.split(/(?<=\n)/);
}

function lineStart(text: string, offset: number): number {
  return offset === 0 ? 0 : text.lastIndexOf('\n', offset - 1) + 1;
}

function lineEnd(text: string, offset: number): number {
  const end = text.indexOf('\n', offset);
  return end < 0 ? text.length : end + 1;
}
