import { gpuResource } from '../policy/resources.ts';
import { parseQuantity, wholeUnits } from './quantity.ts';
import type { NodeInfo } from './snapshot.ts';

/** What the nodes offer of GPUs. */
export interface Inventory {
  /** By resource name the units that the largest node offers; zero where the name is advertised with nothing behind it. */
  readonly largest: ReadonlyMap<string, bigint>;
  readonly shared: readonly SharedNode[];
}

/** A node that shares its GPUs, by the labels of feature discovery: memory of one whole GPU, and units per GPU. */
export interface SharedNode {
  readonly node: NodeInfo;
  readonly strategy: string;
  readonly product: string;
  readonly totalMiB: number;
  readonly replicas: number;
  /**
   * The GPU resources it has units of. None on a node whose plugin has not registered yet; a name that the plugin gave up
   * stays behind with zero and does not count.
   */
  readonly offers: readonly string[];
}

/** The same array stands for the same nodes, so it is gone through once and not for every pod. */
const known = new WeakMap<readonly NodeInfo[], Inventory>();

export function inventoryOf(nodes: readonly NodeInfo[], extra: readonly string[]): Inventory {
  const kept = known.get(nodes);
  if (kept) return kept;
  const largest = new Map<string, bigint>();
  const shared: SharedNode[] = [];
  for (const node of nodes) {
    const gpus = gpusOf(node, extra);
    for (const [name, units] of gpus) if (units >= (largest.get(name) ?? 0n)) largest.set(name, units);
    const sharing = sharingOf(node);
    if (sharing) shared.push({ ...sharing, offers: gpus.filter(([, units]) => units > 0n).map(([name]) => name) });
  }
  const inventory = { largest, shared };
  known.set(nodes, inventory);
  return inventory;
}

function gpusOf({ allocatable }: NodeInfo, extra: readonly string[]): readonly (readonly [string, bigint])[] {
  return Object.entries(allocatable)
    .filter(([name]) => gpuResource(name, extra))
    .map(([name, text]) => {
      const quantity = parseQuantity(text);
      return [name, quantity ? wholeUnits(quantity) : 0n];
    });
}

const LABEL = 'nvidia.com/gpu.';

function sharingOf(node: NodeInfo): Omit<SharedNode, 'offers'> | undefined {
  const label = (name: string) => node.labels[LABEL + name];
  const strategy = label('sharing-strategy');
  const totalMiB = wholeNumber(label('memory'));
  const replicas = wholeNumber(label('replicas'));
  if (strategy === undefined || !totalMiB || !replicas || replicas < 2) return undefined;
  return { node, strategy, totalMiB, replicas, product: label('product') ?? 'unknown product' };
}

function wholeNumber(text: string | undefined): number | undefined {
  return text !== undefined && /^\d{1,9}$/.test(text) ? Number(text) : undefined;
}
