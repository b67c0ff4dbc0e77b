import { formatPatch, structuredPatch } from 'diff';
import { LineCounter, parseDocument, stringify } from 'yaml';
import { sameJson } from '../admission/json.ts';
import type { PatchOperation } from '../admission/patch.ts';
import { nodeOf } from './places.ts';
import { afterEdits, planOf } from './plan.ts';
import type { Source } from './read.ts';
import { type Splice, spliced, splicesOf } from './splices.ts';

/** An object's text after a JSON Patch. */
export interface Edited {
  /** Parts of the file to replace; undefined where the text can't be edited, as at an anchor that others share. */
  readonly splices: readonly Splice[] | undefined;
  /** Hunks of a unified diff with the lines of the file, or of the whole object as YAML where it can't be edited. */
  readonly diff: string;
  /** The whole object written anew, without its comments; undefined within a list. */
  readonly rewritten: Splice | undefined;
}

/**
 * Edits the text of an object as little as the operations need. What would not read back as the object with the patch is not
 * given: better no edit than a wrong one.
 */
export function edit(source: Source, object: unknown, operations: readonly PatchOperation[]): Edited {
  const edits = planOf(object, operations);
  const wanted = afterEdits(object, edits);
  const root = nodeOf(source);
  const splices = splicesOf(source, root, edits);
  const [start, end] = root?.range ?? [0, 0];
  if (root && splices?.every((splice) => splice.start >= start)) {
    const region = linesAround(source.text, start, Math.max(end, ...splices.map((splice) => splice.end)));
    const before = source.text.slice(region.start, region.end);
    const here = splices.map((splice) => ({
      ...splice,
      start: splice.start - region.start,
      end: splice.end - region.start,
    }));
    const after = spliced(before, here);
    if (sameJson(readAt(after, start - region.start), wanted)) {
      return { splices, diff: hunks(before, after, source.lines.linePos(region.start).line), rewritten: undefined };
    }
  }
  const yaml = (value: unknown) => stringify(value, { lineWidth: 0, aliasDuplicateObjects: false });
  const rewritten = root && source.path.length === 0 ? { start, end, text: yaml(wanted) } : undefined;
  return { splices: undefined, diff: hunks(yaml(object), yaml(wanted), 1), rewritten };
}

/** A unified diff of a whole file, as `git apply` and `patch -p1` take it. */
export function fileDiff(file: string, before: string, after: string): string {
  const path = file.replace(/^\.?\//, '');
  const { hunks: found } = structuredPatch('', '', before, after);
  return formatPatch({
    oldFileName: `a/${path}`,
    newFileName: `b/${path}`,
    oldHeader: undefined,
    newHeader: undefined,
    hunks: found,
  }).replace(/^=+\n/, '');
}

function hunks(before: string, after: string, line: number): string {
  const { hunks: found } = structuredPatch('', '', before, after);
  return found
    .map(({ oldStart, oldLines, newStart, newLines, lines }) =>
      [
        `@@ -${oldStart + line - 1},${oldLines} +${newStart + line - 1},${newLines} @@`,
        ...lines.map((text) => text.replace(/\r$/, '')),
        '',
      ].join('\n'),
    )
    .join('');
}

/** The object that stands at an offset, with what is before it on its line as spaces, so that columns stay. */
function readAt(text: string, offset: number): unknown {
  const document = parseDocument(' '.repeat(offset) + text.slice(offset), {
    merge: true,
    prettyErrors: false,
    logLevel: 'silent',
    lineCounter: new LineCounter(),
  });
  if (document.errors.length > 0) return undefined;
  try {
    return document.toJS();
  } catch {
    return undefined;
  }
}

/** Whole lines. */
function linesAround(text: string, start: number, end: number): { readonly start: number; readonly end: number } {
  const last = text.indexOf('\n', Math.max(start, end - 1));
  return { start: text.lastIndexOf('\n', start - 1) + 1, end: last < 0 ? text.length : last + 1 };
}
