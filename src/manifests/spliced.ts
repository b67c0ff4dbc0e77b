/** One replaced part of a text, by offsets. */
export interface Splice {
  readonly start: number;
  readonly end: number;
  readonly text: string;
  /** The column of a line that is put in. Of several at one place the one that is furthest in stands first: it ends the others. */
  readonly column?: number;
}

/** Where two versions of a text differ, by offsets in each. */
export interface Change {
  readonly start: number;
  readonly end: number;
  readonly newStart: number;
  readonly newEnd: number;
}

/** Another version of a text, and where it differs: in order, and no change touches another one. */
export interface Rewritten {
  readonly text: string;
  readonly changes: readonly Change[];
}

/** The text with all splices; those at one place in their order. */
export function spliced(text: string, splices: readonly Splice[]): string {
  return rewritten(text, splices).text;
}

/** The same, and where it differs from what it was. */
export function rewritten(text: string, splices: readonly Splice[]): Rewritten {
  const changes: Change[] = [];
  let result = '';
  let at = 0;
  for (const { start, end, text: replacement } of splices.toSorted(inOrder)) {
    const last = start <= at ? changes.pop() : undefined;
    result += text.slice(at, start);
    const begun = last ?? { start, newStart: result.length };
    result += replacement;
    at = Math.max(at, end);
    changes.push({ ...begun, end: at, newEnd: result.length });
  }
  return { text: result + text.slice(at), changes };
}

/** Where a text differs from what it was before it was changed twice. */
export function afterBoth(first: readonly Change[], second: readonly Change[]): readonly Change[] {
  // By offsets in the text between both, with what leads from there to the text before and to the one after.
  const steps = [
    ...first.map(({ end, newStart, newEnd }) => ({ start: newStart, end: newEnd, before: end - newEnd })),
    ...second.map(({ start, end, newEnd }) => ({ start, end, after: newEnd - end })),
  ].sort((a, b) => a.start - b.start);
  const changes: Change[] = [];
  let [between, before, after] = [-1, 0, 0];
  for (const step of steps) {
    const last = step.start <= between ? changes.pop() : undefined;
    const begun = last ?? { start: step.start + before, newStart: step.start + after };
    between = Math.max(between, step.end);
    if ('before' in step) before = step.before;
    else after = step.after;
    changes.push({ ...begun, end: between + before, newEnd: between + after });
  }
  return changes;
}

function inOrder(a: Splice, b: Splice): number {
  return a.start - b.start || columnIn(b) - columnIn(a);
}

function columnIn({ column = Number.MAX_SAFE_INTEGER }: Splice): number {
  return column;
}
