import { expect, it } from 'vitest';
import { schedulerReasons } from './scheduler-message.ts';

// As kube-scheduler 1.34 to 1.37 writes them.
it.each<[string, readonly (readonly [number | undefined, string])[]]>([
  [
    "0/6 nodes are available: 1 Insufficient cpu, 2 Insufficient nvidia.com/gpu, 1 node(s) had untolerated taint {a: b}, 1 node(s) were unschedulable, 1 node(s) didn't match Pod's node affinity/selector. preemption: 0/6 nodes are available: 6 Preemption is not helpful for scheduling.",
    [
      [1, 'other-resource'],
      [2, 'taken'],
      [1, 'taint'],
      [1, 'cordoned'],
      [1, 'node-selector'],
    ],
  ],
  ['0/15 nodes are available: persistentvolumeclaim "data" not found. not found', [[undefined, 'volume']]],
  ['0/3 nodes are available: pod has unbound immediate PersistentVolumeClaims. ', [[undefined, 'volume']]],
  ['0/3 nodes are available: 3 node(s) had volume node affinity conflict.', [[3, 'volume']]],
  ["0/3 nodes are available: 3 node(s) didn't match pod anti-affinity rules.", [[3, 'other-pods']]],
  ["0/3 nodes are available: 3 node(s) didn't match pod topology spread constraints.", [[3, 'other-pods']]],
  ["0/3 nodes are available: 3 node(s) didn't have free ports for the requested pod ports.", [[3, 'other-pods']]],
  ['0/3 nodes are available: 3 cannot allocate all claims.', [[3, 'claim']]],
  ['0/3 nodes are available: 3 Too many pods.', [[3, 'other-resource']]],
  ['0/3 nodes are available: 3 something new.', [[3, 'scheduler']]],
  ['no nodes available to schedule pods', [[undefined, 'scheduler']]],
  ['', []],
])('%s', (message, want) => {
  expect(schedulerReasons(message).map(({ nodes, code }) => [nodes, code])).toEqual(want);
});
