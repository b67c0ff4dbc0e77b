/** One replaced part of a text, by offsets. */
export interface Splice {
  readonly start: number;
  readonly end: number;
  readonly text: string;
  /** The column of a line that is put in. Of several at one place the one that is furthest in stands first: it ends the others. */
  readonly column?: number;
}

/** The text with all splices; those at one place in their order. */
export function spliced(text: string, splices: readonly Splice[]): string {
  let result = '';
  let at = 0;
  for (const { start, end, text: replacement } of splices.toSorted(inOrder)) {
    result += text.slice(at, start) + replacement;
    at = Math.max(at, end);
  }
  return result + text.slice(at);
}

function inOrder(a: Splice, b: Splice): number {
  return a.start - b.start || columnIn(b) - columnIn(a);
}

function columnIn({ column = Number.MAX_SAFE_INTEGER }: Splice): number {
  return column;
}
