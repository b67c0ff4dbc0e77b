import { whenReady } from '../../cluster/component.ts';
import type { ProcessCluster } from '../../cluster/process-kubelet/cluster.ts';
import type { RunningPod } from '../../cluster/process-kubelet/pod.ts';

/** Waits until both replicas are there and receive connections. */
export async function settled({ kubelet, service }: ProcessCluster): Promise<void> {
  const both = async () => kubelet.pods().length === 2 && kubelet.pods().every(isReady) && service.servers() === 2;
  await whenReady([], both, 90_000);
}

export function replicas({ kubelet }: ProcessCluster): readonly [RunningPod, RunningPod] {
  const [first, second] = kubelet.pods().filter(isReady);
  if (!first || !second) throw new Error('there are no two replicas that are ready');
  return [first, second];
}

function isReady(pod: RunningPod): boolean {
  return pod.status().conditions?.some(({ type, status }) => type === 'Ready' && status === 'True') ?? false;
}
