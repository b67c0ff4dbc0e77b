import { isAlias, isCollection, isMap, isNode, isScalar, isSeq, type Node, type YAMLMap, type YAMLSeq } from 'yaml';
import { find, type KnownPair, type Path, pairOf } from './nodes.ts';
import type { Edit } from './plan.ts';
import type { Source } from './read.ts';
import type { Splice } from './spliced.ts';
import { inline, isPlain, keyText, lines, type Style, styleOf } from './written.ts';

/**
 * The parts of a text to replace, so that comments, order and spelling of everything else stay. Undefined where an edit can't
 * be made there, as in a merged map. Edits of an anchor and its aliases come to one and the same place, and are made once.
 */
export function splicesOf(source: Source, root: Node | null, edits: readonly Edit[]): readonly Splice[] | undefined {
  const writer = writerOf(source);
  const made = new Map<string, string>();
  const splices = edits.map((edit) => {
    const written = writer(root, edit);
    const what = JSON.stringify(written);
    const path = JSON.stringify(edit.type === 'add' ? edit.parent : edit.path);
    const before = made.get(what);
    made.set(what, path);
    return before === undefined || before === path ? written : [];
  });
  return splices.includes(undefined) ? undefined : splices.flatMap((splice) => splice ?? []);
}

/** Found out once a document, however many objects it lists. */
const styles = new WeakMap<object, Style>();

function writerOf({
  text,
  document,
  lines: places,
}: Source): (root: Node | null, edit: Edit) => readonly Splice[] | undefined {
  const style = styles.get(document) ?? styleOf(text, document.contents);
  styles.set(document, style);
  const columnOf = (offset: number) => offset - (text.lastIndexOf('\n', offset - 1) + 1);

  return (root, edit) => {
    switch (edit.type) {
      case 'add': {
        const parent = find(root, edit.parent, document);
        if (edit.key === undefined) return isSeq(parent) ? addItem(parent, edit.value) : undefined;
        return isMap(parent) ? addPair(parent, edit.key, edit.value) : undefined;
      }
      case 'remove':
        return removePair(find(root, edit.path.slice(0, -1), document), edit.path.at(-1));
      case 'rename': {
        const key = pairOf(find(root, edit.path.slice(0, -1), document), edit.path.at(-1))?.key;
        if (!key?.range) return undefined;
        const quoted = isScalar(key) && key.type === 'QUOTE_DOUBLE';
        const name = quoted ? JSON.stringify(edit.key) : keyText(edit.key, { ...style, flow: true });
        return [{ start: key.range[0], end: key.range[1], text: name }];
      }
      case 'set':
        return set(root, edit.path, edit.value);
    }
  };

  function set(root: Node | null, path: Path, value: unknown): readonly Splice[] | undefined {
    const parent = find(root, path.slice(0, -1), document);
    const last = path.at(-1);
    const pair = pairOf(parent, last);
    const node = isSeq(parent) ? parent.items[Number(last)] : pair?.value;
    if (isSeq(parent) || isMap(parent)) return replaced(isNode(node) ? node : null, value, parent, pair);
    return undefined;
  }

  /** Of a map only what differs is written. */
  function replaced(
    node: Node | null,
    value: unknown,
    parent: YAMLMap | YAMLSeq,
    pair: KnownPair | undefined,
  ): readonly Splice[] | undefined {
    if (isAlias(node)) return undefined;
    const flow = style.json || parent.flow === true;
    const isObject = typeof value === 'object' && value !== null;
    if (isMap(node) && node.items.length > 0 && isObject && !Array.isArray(value)) return mapReplaced(node, value);
    if (isCollection(node) && node.items.length > 0)
      return isPlain(value) && pair ? [plainInstead(pair, value)] : undefined;
    const after = pair?.key.range?.[1];
    const [start, end] = node?.range ?? [undefined, undefined];
    if (!isObject || flow) {
      if (isObject && style.json)
        return start === undefined || end === undefined ? undefined : [{ start, end, text: pretty(value, start) }];
      const written = isObject ? inline(value, { ...style, flow: true }) : inline(value, { ...style, flow });
      if (start === undefined || end === undefined) return undefined;
      // `limits:` without anything has its value right behind the colon.
      return [{ start, end, text: start === end ? ` ${written}` : written }];
    }
    if (!pair || after === undefined || start === undefined || end === undefined) return undefined;
    const colon = text.indexOf(':', after) + 1;
    const column = columnOf(pair.key.range?.[0] ?? 0);
    const written = below(value, column);
    // A comment behind the colon stays there.
    if (start === end) return [{ start: endOfLine(colon), end: endOfLine(colon), text: written, column }];
    const rest = text.slice(end, endOfLine(end));
    return [{ start: colon, end: endOfLine(end), text: rest.trimEnd() + written }];
  }

  /** A plain value in the place of a map or a list. */
  function plainInstead(pair: KnownPair, value: unknown): Splice {
    const start = text.indexOf(':', pair.key.range?.[1] ?? 0) + 1;
    return { start, end: lastEnd(pair), text: ` ${inline(value, { ...style, flow: true })}` };
  }

  function pretty(value: unknown, start: number): string {
    const line = text.slice(text.lastIndexOf('\n', start - 1) + 1, start);
    return lines(value, line.slice(0, line.length - line.trimStart().length), style);
  }

  function mapReplaced(node: YAMLMap, value: object): readonly Splice[] | undefined {
    const wanted = value as Readonly<Record<string, unknown>>;
    const keys = node.items.map(({ key }) => (isScalar(key) ? String(key.value) : ''));
    const gone = keys.filter((key) => !Object.hasOwn(wanted, key));
    const parts = [
      ...Object.entries(wanted).map(([key, inner]) => {
        const pair = pairOf(node, key);
        // A key that comes takes the place of one that goes.
        const instead = pair ? undefined : pairOf(node, gone.shift());
        if (instead?.key.range) {
          const [start, end] = instead.key.range;
          const value = replaced(instead.value, inner, node, instead);
          return value && [{ start, end, text: keyText(key, style) }, ...value];
        }
        if (!pair) return addPair(node, key, inner);
        const now: unknown = pair.value?.toJS(document);
        return JSON.stringify(now) === JSON.stringify(inner) ? [] : replaced(pair.value, inner, node, pair);
      }),
    ];
    parts.push(...gone.map((key) => removePair(node, key)));
    return parts.includes(undefined) ? undefined : parts.flatMap((part) => part ?? []);
  }

  function addPair(map: YAMLMap, key: string, value: unknown): readonly Splice[] | undefined {
    const first = map.items[0] as KnownPair | undefined;
    const last = map.items.at(-1) as KnownPair | undefined;
    if (!first?.key.range || !last?.key.range) return undefined;
    if (style.json || map.flow)
      return addInFlow(first.key.range[0], lastEnd(last), `${keyText(key, { ...style, flow: true })}: `, value);
    const column = columnOf(first.key.range[0]);
    const head = `${keyText(key, { ...style, flow: false })}:`;
    return [
      {
        ...behind(lastEnd(last), column),
        text: `${style.newline}${' '.repeat(column)}${head}${blockValue(value, column)}`,
      },
    ];
  }

  function addItem(list: YAMLSeq, value: unknown): readonly Splice[] | undefined {
    const [first, last] = [list.items[0], list.items.at(-1)];
    if (!isNode(first) || !isNode(last) || !first.range || !last.range) return undefined;
    if (style.json || list.flow) return addInFlow(first.range[0], lastEnd(last), '', value);
    const dash = text.lastIndexOf('-', first.range[0] - 1);
    const column = columnOf(dash);
    const gap = ' '.repeat(first.range[0] - dash - 1 || 1);
    const item = isPlain(value)
      ? inline(value, { ...style, flow: false })
      : lines(value, ' '.repeat(column + 1 + gap.length), style);
    // A dash right below the key of its list is still further in than that key.
    const within = column + 0.5;
    return [{ ...behind(lastEnd(last), within), text: `${style.newline}${' '.repeat(column)}-${gap}${item}` }];
  }

  /** As the first item stands: on a line of its own, or in one line with the others. */
  function addInFlow(first: number, end: number, head: string, value: unknown): readonly Splice[] {
    const before = text.slice(first - places.linePos(first).col + 1, first);
    if (before.trim() !== '') return [{ start: end, end, text: `, ${head}${inlineFlow(value)}` }];
    const written = `${style.newline}${before}${head}${style.json ? lines(value, before, style) : inlineFlow(value)}`;
    // A comment behind the last one stays there.
    const comma = /^[ \t]*(,?)[ \t]+#/.exec(text.slice(end, endOfLine(end)))?.[1];
    if (comma === undefined) return [{ start: end, end, text: `,${written}` }];
    const behind = { start: endOfLine(end), end: endOfLine(end) };
    return comma === ','
      ? [{ ...behind, text: `${written},` }]
      : [
          { start: end, end, text: ',' },
          { ...behind, text: written },
        ];
  }

  function inlineFlow(value: unknown): string {
    return style.json ? JSON.stringify(value) : inline(value, { ...style, flow: true });
  }

  function blockValue(value: unknown, column: number): string {
    if (isPlain(value)) return ` ${inline(value, { ...style, flow: false })}`;
    return below(value, column);
  }

  /** A map or a list on the lines below its key. */
  function below(value: unknown, column: number): string {
    const before = ' '.repeat(column) + (Array.isArray(value) && !style.indentSeq ? '' : style.indent);
    return `${style.newline}${before}${lines(value, before, style)}`;
  }

  function removePair(map: Node | null, key: string | number | undefined): readonly Splice[] | undefined {
    if (!isMap(map)) return undefined;
    const pair = pairOf(map, key);
    const index = map.items.indexOf(pair as (typeof map.items)[number]);
    if (!pair?.key.range || !map.range) return undefined;
    const start = pair.key.range[0];
    const next = map.items[index + 1] as KnownPair | undefined;
    const previous = map.items[index - 1] as KnownPair | undefined;
    const alone = !next && !previous;
    if (alone && (style.json || map.flow)) return [{ start: map.range[0], end: map.range[1], text: '{}' }];
    if (style.json || map.flow) {
      if (next?.key.range) return [{ start, end: next.key.range[0], text: '' }];
      return [{ start: previous ? lastEnd(previous) : start, end: lastEnd(pair), text: '' }];
    }
    if (alone) return [{ start, end: lastEnd(pair), text: '{}' }];
    const lineStart = text.lastIndexOf('\n', start - 1) + 1;
    // The first key of a list's item shares its line with the dash.
    if (text.slice(lineStart, start).trim() !== '')
      return next?.key.range ? [{ start, end: next.key.range[0], text: '' }] : undefined;
    const end = endOfLine(lastEnd(pair));
    return [{ start: lineStart, end: Math.min(text.length, end + style.newline.length), text: '' }];
  }

  /** Where the last character of a value is, without the comments and empty lines behind it. */
  function lastEnd(of: Node | KnownPair | null): number {
    if (of && 'key' in of) {
      const colon = of.key.range ? text.indexOf(':', of.key.range[1]) + 1 : 0;
      return of.value?.range && of.value.range[1] > of.value.range[0] ? lastEnd(of.value) : colon;
    }
    if (isCollection(of) && !of.flow && of.items.length > 0) return lastEnd(of.items.at(-1) as Node | KnownPair);
    const end = of?.range?.[1] ?? 0;
    return isScalar(of) ? text.slice(0, end).trimEnd().length : end;
  }

  /** Behind the line of an offset, and behind the comments below it that stand further in than a column. */
  function behind(offset: number, column: number): Omit<Splice, 'text'> {
    let end = endOfLine(offset);
    for (let next = end; next < text.length; ) {
      const start = text.indexOf('\n', next) + 1;
      if (start === 0) break;
      next = endOfLine(start);
      const line = text.slice(start, next);
      const own = line.length - line.trimStart().length;
      if (line.trim() !== '' && (!line.trimStart().startsWith('#') || own <= column)) break;
      if (line.trim() !== '') end = next;
    }
    return { start: end, end, column };
  }

  function endOfLine(offset: number): number {
    const end = text.indexOf('\n', offset);
    return end < 0 ? text.length : text[end - 1] === '\r' ? end - 1 : end;
  }
}
