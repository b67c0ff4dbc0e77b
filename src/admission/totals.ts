import type { ContainerView } from './pod.ts';

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
