import { type Document, isCollection, type Node, visit } from 'yaml';
import { aliased } from './nodes.ts';
import type { Source } from './read.ts';
import type { Splice } from './spliced.ts';

/** Whether a splice stands at an anchor within one object of a List that others have an alias of. */
export function isSharedOutside({ document }: Source, root: Node, splices: readonly Splice[]): boolean {
  const [first, last] = root.range ?? [0, 0];
  return sharedIn(document).some(
    ({ start, end, alias }) =>
      start >= first &&
      start <= last &&
      (alias < first || alias > last) &&
      splices.some((splice) => splice.start >= start && splice.start < end),
  );
}

interface Shared {
  /** Of what the anchor names. */
  readonly start: number;
  readonly end: number;
  readonly alias: number;
}

/** Found out once a document, however many objects it lists. */
const sharedBy = new WeakMap<Document.Parsed, readonly Shared[]>();

function sharedIn(document: Document.Parsed): readonly Shared[] {
  const known = sharedBy.get(document);
  if (known) return known;
  const found: Shared[] = [];
  visit(document, {
    Alias(_, alias) {
      const node = aliased(alias, document);
      const [start, end] = node?.range ?? [];
      if (start === undefined || end === undefined) return;
      // What is put behind the last line of a block may be part of it.
      const isBlock = isCollection(node) && !node.flow;
      found.push({ start, end: isBlock ? end + 1 : end, alias: alias.range?.[0] ?? 0 });
    },
  });
  sharedBy.set(document, found);
  return found;
}
