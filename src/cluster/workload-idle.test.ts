import { describe, expect, it } from 'vitest';
import { whyIdle } from './workload-idle.ts';
import type { TargetKind } from './workload-pods.ts';

const seen = { metadata: { generation: 2 }, status: { observedGeneration: 2 } };
const pod = (name: string, ready: boolean) => ({
  metadata: { name },
  status: { phase: 'Running', conditions: [{ type: 'Ready', status: ready ? 'True' : 'False' }] },
});

describe('a workload that wants no pod now', () => {
  it.each<[TargetKind, object, { pods?: object[]; sets?: object[] }, string | undefined]>([
    ['deployment', { ...seen, spec: { replicas: 0 } }, {}, 'asks for 0 replicas'],
    ['replicaset', { ...seen, spec: { replicas: 0 } }, {}, 'asks for 0 replicas'],
    ['statefulset', { ...seen, spec: { replicas: 0 } }, {}, 'asks for 0 replicas'],
    ['deployment', { ...seen, spec: { replicas: 1 } }, {}, undefined],
    ['deployment', { ...seen, spec: {} }, {}, undefined],
    ['deployment', { ...seen, spec: { replicas: 1, paused: true } }, {}, 'is paused, and was never rolled out'],
    ['deployment', { ...seen, spec: { replicas: 1, paused: true } }, { sets: [{}] }, undefined],
    ['deployment', { metadata: { generation: 1 }, spec: {} }, {}, 'was not looked at by its controller yet'],
    [
      'daemonset',
      { metadata: { generation: 2 }, status: { observedGeneration: 1 }, spec: {} },
      {},
      'was not looked at by its controller yet',
    ],
    [
      'statefulset',
      { ...seen, spec: { replicas: 3 } },
      { pods: [pod('web-0', true), pod('web-1', false)] },
      'makes one pod after the other, and waits for pod/web-1 to be ready',
    ],
    ['statefulset', { ...seen, spec: { replicas: 3 } }, { pods: [pod('web-0', true)] }, undefined],
    ['statefulset', { ...seen, spec: { replicas: 1 } }, { pods: [pod('web-0', false)] }, undefined],
    [
      'statefulset',
      { ...seen, spec: { replicas: 3, podManagementPolicy: 'Parallel' } },
      { pods: [pod('web-0', false)] },
      undefined,
    ],
    [
      'daemonset',
      { metadata: { generation: 2 }, spec: {}, status: { observedGeneration: 2, desiredNumberScheduled: 0 } },
      {},
      'has no node: none is one that selector, affinity and tolerations of its pods let them go to',
    ],
    [
      'daemonset',
      { metadata: { generation: 2 }, spec: {}, status: { observedGeneration: 2, desiredNumberScheduled: 1 } },
      {},
      undefined,
    ],
    ['job', { spec: { suspend: true } }, {}, 'is suspended'],
    [
      'job',
      { metadata: { labels: { 'kueue.x-k8s.io/queue-name': 'q' } }, spec: { suspend: true } },
      {},
      'is suspended, as Kueue keeps it until it has room in queue q',
    ],
    ['job', { spec: { parallelism: 0 } }, {}, 'asks for 0 pods at a time'],
    ['job', { spec: {}, status: { conditions: [{ type: 'Complete', status: 'True' }] } }, {}, 'is complete'],
    [
      'job',
      {
        spec: {},
        status: { conditions: [{ type: 'Failed', status: 'True', reason: 'BackoffLimitExceeded', message: 'm' }] },
      },
      {},
      'has failed: BackoffLimitExceeded: m',
    ],
    ['job', { spec: {}, status: { conditions: [{ type: 'Failed', status: 'False' }] } }, {}, undefined],
    ['cronjob', { spec: { suspend: true } }, {}, 'is suspended'],
    ['cronjob', { spec: { schedule: '0 3 * * *' } }, {}, 'has no job now; its schedule is 0 3 * * *'],
  ])('%s %j with %j', (kind, object, { pods = [], sets = [] }, text) => {
    expect(whyIdle(kind, object, pods, sets)).toBe(text);
  });
});
