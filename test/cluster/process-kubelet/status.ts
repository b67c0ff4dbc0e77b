import type { V1ContainerStatus, V1Pod, V1PodCondition, V1PodStatus } from '@kubernetes/client-node';

/** What is known of a pod's processes. */
export interface Known {
  readonly containers: readonly V1ContainerStatus[];
  readonly address: string;
  readonly startTime: Date;
  readonly done: 'Succeeded' | 'Failed' | undefined;
  /** Why it doesn't start, if so. */
  readonly problem: string | undefined;
}

/** The part of a pod's status that a kubelet writes. */
export function podStatus({ spec }: V1Pod, { containers, address, startTime, done, problem }: Known): V1PodStatus {
  const all = containers.length > 0 && containers.length === spec?.containers.length;
  const ready = all && done === undefined && containers.every((container) => container.ready);
  const status: V1PodStatus = {
    phase: done ?? (all ? 'Running' : 'Pending'),
    conditions: [condition('Initialized', all), condition('ContainersReady', ready), condition('Ready', ready)],
    containerStatuses: [...containers],
    hostIP: '127.0.0.1',
    podIP: address,
    podIPs: [{ ip: address }],
    startTime,
  };
  if (problem !== undefined) status.message = problem;
  return status;
}

function condition(type: string, holds: boolean): V1PodCondition {
  return { type, status: holds ? 'True' : 'False' };
}

/** Whether a Service would send connections to a pod. */
export function receives({ metadata, status }: V1Pod): boolean {
  const ready = status?.conditions?.some((each) => each.type === 'Ready' && each.status === 'True') ?? false;
  return ready && metadata?.deletionTimestamp === undefined;
}
