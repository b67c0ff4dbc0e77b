import { structuredPatch } from 'diff';
import { isCollection, parseDocument } from 'yaml';
import { sameJson } from '../admission/json.ts';
import type { PatchOperation } from '../admission/patch.ts';
import { yamlText } from '../files/yaml-text.ts';
import { nodeOf } from './places.ts';
import { afterEdits, planOf } from './plan.ts';
import type { Source } from './read.ts';
import { isSharedOutside } from './shared.ts';
import { type Splice, spliced } from './spliced.ts';
import { splicesOf } from './splices.ts';

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
  const notEdited = (): Edited => {
    const rewritten = root && source.path.length === 0 ? { start, end, text: yamlOf(wanted) } : undefined;
    return { splices: undefined, diff: hunks(yamlOf(object), yamlOf(wanted), 1), rewritten };
  };
  if (!root || !splices?.every((splice) => splice.start >= start)) return notEdited();
  if (source.path.length > 0 && isSharedOutside(source, root, splices)) return notEdited();
  const stop = Math.max(end, ...splices.map((splice) => splice.end));
  // Columns count only where lines do.
  const column = isCollection(root) && root.flow ? 0 : source.lines.linePos(start).col - 1;
  if (!sameJson(readAt(splicedPart(source.text, start, stop, splices), column), wanted)) return notEdited();
  const lines = linesAround(source, start, stop);
  // A file in one line would be shown whole for each of its objects.
  if (lines.end - lines.start > stop - start + LONGEST_REST) return { ...notEdited(), splices };
  const before = source.text.slice(lines.start, lines.end);
  const after = splicedPart(source.text, lines.start, lines.end, splices);
  return { splices, diff: hunks(before, after, source.lines.linePos(lines.start).line), rewritten: undefined };
}

/** What may stand before and behind an object on its own lines. */
const LONGEST_REST = 2000;

function yamlOf(value: unknown): string {
  return yamlText(value, { lineWidth: 0, aliasDuplicateObjects: false });
}

/** A part of a text, with the splices that lie in it. */
function splicedPart(text: string, start: number, end: number, splices: readonly Splice[]): string {
  const here = splices.map((splice) => ({ ...splice, start: splice.start - start, end: splice.end - start }));
  return spliced(text.slice(start, end), here);
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

/** An object whose text begins at a column. */
function readAt(text: string, column: number): unknown {
  const document = parseDocument(' '.repeat(column) + text, {
    merge: true,
    prettyErrors: false,
    logLevel: 'silent',
  });
  if (document.errors.length > 0) return undefined;
  try {
    return document.toJS();
  } catch {
    return undefined;
  }
}

/** Whole lines. All may be one long line, which is not to be gone through for each object. */
function linesAround(
  { text, lines }: Source,
  start: number,
  end: number,
): { readonly start: number; readonly end: number } {
  const next = lines.lineStarts[lines.linePos(Math.max(start, end - 1)).line];
  return { start: start - lines.linePos(start).col + 1, end: next ?? text.length };
}
