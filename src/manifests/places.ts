import { isAlias, isCollection, isMap, isNode, isPair, isScalar, isSeq, type Node, type Pair, visit } from 'yaml';
import type { Place } from '../report/result.ts';
import { aliased } from './nodes.ts';
import type { Source } from './read.ts';

/** What a step of a path leads to: the node, and the pair whose value it is. */
interface Step {
  readonly node: Node | null;
  readonly pair?: Pair<Node, Node | null>;
}

/** The value of a key or an index; an alias is followed to its anchor. Undefined where there is none. */
function stepInto(from: Node | null, part: string | number, source: Source): Step | undefined {
  const node = isAlias(from) ? (aliased(from, source.document) ?? null) : from;
  if (isSeq(node)) {
    const item = typeof part === 'number' ? node.items[part] : undefined;
    return item === undefined ? undefined : { node: isNode(item) ? item : null };
  }
  if (!isMap(node)) return undefined;
  const pair = node.items.find(({ key }) => isScalar(key) && String(key.value) === String(part));
  return pair && { node: isNode(pair.value) ? pair.value : null, pair: pair as Pair<Node, Node | null> };
}

/** The node of the object itself. */
export function nodeOf(source: Source): Node | null {
  let node: Node | null = source.document.contents;
  for (const part of source.path) node = stepInto(node, part, source)?.node ?? null;
  return node;
}

/** Whether some of its text stands for several places: it has an anchor, or an alias of one. */
export function sharesText(source: Source): boolean {
  let found = false;
  visit(nodeOf(source), (_, node) => {
    found = isAlias(node) || (isNode(node) && 'anchor' in node && node.anchor !== undefined);
    return found ? visit.BREAK : undefined;
  });
  return found;
}

/** Where the object begins: its first line. */
export function placeOfObject(source: Source): Place | undefined {
  const node = nodeOf(source);
  return node?.range ? place(source, node.range[0], endOfLine(source.text, node.range[0])) : undefined;
}

/**
 * Where a field stands, such as `spec.containers[0].resources.limits[nvidia.com/gpu]`: its key and, if that is a plain value,
 * the value. Of a field that the text does not have, the nearest one around it.
 */
export function placeOfField(source: Source, field: string): Place | undefined {
  let at: Step = { node: nodeOf(source) };
  let range = startOf(at.node, source);
  for (let rest = field; rest !== ''; ) {
    const step = nextStep(at.node, rest, source);
    if (!step) break;
    at = step.to;
    rest = step.rest;
    range = rangeOf(at, source) ?? range;
  }
  return range && place(source, ...range);
}

/** The step that the beginning of a path in text means, and the rest. Keys in brackets may hold brackets themselves. */
function nextStep(
  node: Node | null,
  text: string,
  source: Source,
): { readonly to: Step; readonly rest: string } | undefined {
  const plain = /^\.?([A-Za-z][A-Za-z0-9]*)/.exec(text);
  if (plain) {
    const to = stepInto(node, plain[1] ?? '', source);
    return to && { to, rest: text.slice(plain[0].length) };
  }
  for (const key of keysOf(node, source)) {
    const written = `[${key}]`;
    const to = text.startsWith(written) ? stepInto(node, key, source) : undefined;
    if (to) return { to, rest: text.slice(written.length) };
  }
  return undefined;
}

function keysOf(from: Node | null, source: Source): readonly (string | number)[] {
  const node = isAlias(from) ? aliased(from, source.document) : from;
  if (isSeq(node)) return [...node.items.keys()];
  return isMap(node) ? node.items.map(({ key }) => (isScalar(key) ? String(key.value) : '')) : [];
}

/** Of a key with a plain value both; of one with a collection the key; of an item of a list its first line. */
function rangeOf({ node, pair }: Step, source: Source): readonly [number, number] | undefined {
  const key = isPair(pair) ? pair.key : undefined;
  if (!key?.range) return startOf(node, source);
  const end = isScalar(node) && node.range && !isBlock(node.type) ? node.range[1] : key.range[1];
  return [key.range[0], Math.max(end, key.range[1])];
}

function startOf(node: Node | null, source: Source): readonly [number, number] | undefined {
  if (!node?.range) return undefined;
  const [start, end] = node.range;
  return isCollection(node) || (isScalar(node) && isBlock(node.type))
    ? [start, Math.min(end, endOfLine(source.text, start))]
    : [start, end];
}

function isBlock(type: string | undefined): boolean {
  return type === 'BLOCK_LITERAL' || type === 'BLOCK_FOLDED';
}

function endOfLine(text: string, offset: number): number {
  const end = text.indexOf('\n', offset);
  return end < 0 ? text.length : text[end - 1] === '\r' ? end - 1 : end;
}

function place({ file, lines }: Source, start: number, end: number): Place {
  const from = lines.linePos(start);
  const to = lines.linePos(Math.max(start, end));
  return { file, line: from.line, column: from.col, endLine: to.line, endColumn: to.col };
}
