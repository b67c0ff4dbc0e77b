import { isMap, isNode, isScalar, isSeq, type Node, type Pair } from 'yaml';

export type Path = readonly (string | number)[];
export type KnownPair = Pair<Node, Node | null>;

/** A node by its path, not through aliases or merged maps. */
export function find(root: Node | null, path: Path): Node | null {
  return path.reduce<Node | null>((node, part) => {
    const child = isSeq(node) ? node.items[Number(part)] : pairOf(node, part)?.value;
    return isNode(child) ? child : null;
  }, root);
}

export function pairOf(node: Node | null, key: string | number | undefined): KnownPair | undefined {
  if (!isMap(node)) return undefined;
  return node.items.find((pair) => isScalar(pair.key) && String(pair.key.value) === String(key)) as
    | KnownPair
    | undefined;
}
