import { type Context, finalResource } from './context.ts';
import { type ContainerView, unitsAsked } from './pod.ts';
import { droppedBesideRename } from './rename.ts';

/** What the pod takes of each GPU resource once it is changed. One walk: a pod may name thousands of them. */
export function totalsByResource(context: Context): ReadonlyMap<string, bigint> {
  const [only] = context.asks;
  if (only && context.asks.length === 1 && only.container.role !== 'ephemeral') {
    // Nearly every GPU pod: one container with one resource.
    if (droppedBesideRename(context, only.container, only.ask)) return new Map();
    return new Map([[finalResource(context, only.ask), unitsAsked(only.ask) ?? 0n]]);
  }
  const asked = new Map<string, Map<ContainerView, bigint>>();
  for (const container of context.containers) {
    for (const ask of container.gpus) {
      if (droppedBesideRename(context, container, ask)) continue;
      const name = finalResource(context, ask);
      const units = asked.get(name) ?? new Map<ContainerView, bigint>();
      asked.set(name, units.set(container, (units.get(container) ?? 0n) + (unitsAsked(ask) ?? 0n)));
    }
  }
  return new Map([...asked].map(([name, units]) => [name, podTotal([...units.keys()], (c) => units.get(c) ?? 0n)]));
}

/**
 * Units of one resource that a pod takes: app containers and native sidecars run together, and every init container runs
 * beside the sidecars before it (k8s.io/component-helpers resource/helpers.go, PodRequests).
 */
export function podTotal(containers: readonly ContainerView[], units: (container: ContainerView) => bigint): bigint {
  let sidecars = 0n;
  let highestInit = 0n;
  let apps = 0n;
  for (const container of containers) {
    const own = units(container);
    if (container.role === 'app') apps += own;
    if (container.role === 'sidecar') sidecars += own;
    if (container.role === 'init' && sidecars + own > highestInit) highestInit = sidecars + own;
  }
  const running = apps + sidecars;
  return running > highestInit ? running : highestInit;
}
