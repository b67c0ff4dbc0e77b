import { type Document, isAlias, isMap, isNode, isScalar, isSeq, type Node, type Pair } from 'yaml';

export type Path = readonly (string | number)[];
export type KnownPair = Pair<Node, Node | null>;

/** A node by its path; aliases are followed to their anchors, merged maps are not looked into. */
export function find(root: Node | null, path: Path, document: Document): Node | null {
  const followed = (node: Node | null) => (isAlias(node) ? (node.resolve(document) ?? null) : node);
  return path.reduce<Node | null>((node, part) => {
    const child = isSeq(node) ? node.items[Number(part)] : pairOf(node, part)?.value;
    return followed(isNode(child) ? child : null);
  }, followed(root));
}

export function pairOf(node: Node | null, key: string | number | undefined): KnownPair | undefined {
  if (!isMap(node)) return undefined;
  return node.items.find((pair) => isScalar(pair.key) && String(pair.key.value) === String(key)) as
    | KnownPair
    | undefined;
}
