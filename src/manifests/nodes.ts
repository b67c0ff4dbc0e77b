import { type Alias, type Document, isAlias, isMap, isNode, isScalar, isSeq, type Node, type Pair, visit } from 'yaml';

export type Path = readonly (string | number)[];
export type KnownPair = Pair<Node, Node | null>;

/** A node by its path; aliases are followed to their anchors, merged maps are not looked into. */
export function find(root: Node | null, path: Path, document: Document): Node | null {
  const followed = (node: Node | null) => (isAlias(node) ? (aliased(node, document) ?? null) : node);
  return path.reduce<Node | null>((node, part) => {
    const child = isSeq(node) ? node.items[Number(part)] : pairOf(node, part)?.value;
    return followed(isNode(child) ? child : null);
  }, followed(root));
}

/** Found out once a document: an alias that is asked itself looks through all that stands before it. */
const targets = new WeakMap<Document, ReadonlyMap<Alias, Node | undefined>>();

/** What an alias stands for: the last node before it with an anchor of its name. */
export function aliased(alias: Alias, document: Document): Node | undefined {
  const known = targets.get(document) ?? targetsIn(document);
  targets.set(document, known);
  return known.get(alias);
}

function targetsIn(document: Document): ReadonlyMap<Alias, Node | undefined> {
  const anchors = new Map<string, Node>();
  const found = new Map<Alias, Node | undefined>();
  visit(document, {
    Node(_, node) {
      if (isAlias(node)) found.set(node, anchors.get(node.source));
      else if (node.anchor !== undefined) anchors.set(node.anchor, node);
    },
  });
  return found;
}

export function pairOf(node: Node | null, key: string | number | undefined): KnownPair | undefined {
  if (!isMap(node)) return undefined;
  return node.items.find((pair) => isScalar(pair.key) && String(pair.key.value) === String(key)) as
    | KnownPair
    | undefined;
}
