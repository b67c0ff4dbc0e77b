import { expect, it } from 'vitest';
import type { Verdict } from '../findings.ts';
import { patchOf } from '../patch.ts';
import { asking, governed, judge, ONE_GPU, pod, table } from './testing.ts';

const shared = governed({ sharing: 'time-slicing', timeSlicing: { requireSharedNode: true } });
const isShared = { key: 'nvidia.com/gpu.sharing-strategy', operator: 'In', values: ['time-slicing'] };
const notShared = { key: 'nvidia.com/gpu.sharing-strategy', operator: 'NotIn', values: ['time-slicing', 'mps'] };
const requires = (requirement: object) => ({ type: 'require-node', requirement, required: true });
const toleration = { key: 'nvidia.com/gpu', operator: 'Exists', effect: 'NoSchedule' };
const tolerating = governed({ tolerations: [toleration] });
const one = asking(ONE_GPU);
const affinity = (...nodeSelectorTerms: object[]) => ({
  affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms } } },
});
const zone = { key: 'zone', operator: 'In', values: ['a'] };

table('GPU130', {
  'a shared node is required where the policy says so': { policy: shared, pod: pod(one), want: [requires(isShared)] },
  'exclusive GPUs keep off shared nodes': {
    policy: governed({ sharing: 'exclusive' }),
    pod: pod(one),
    want: [requires(notShared)],
  },
  'nodes of shared slices are told by the label of the slices': {
    policy: governed({
      sharing: 'time-slicing',
      timeSlicing: { resource: 'nvidia.com/mig-1g.10gb.shared', requireSharedNode: true },
    }),
    pod: pod(one),
    want: [requires({ ...isShared, key: 'nvidia.com/mig-1g.10gb.sharing-strategy' })],
  },
  'products are required under the names that feature discovery gives them': {
    policy: governed({ sharing: 'mig', mig: { profile: '1g.10gb', products: ['NVIDIA-A100-SXM4-80GB'] } }),
    pod: pod(one),
    want: [
      requires({
        key: 'nvidia.com/gpu.product',
        operator: 'In',
        values: ['NVIDIA-A100-SXM4-80GB', 'NVIDIA-A100-SXM4-80GB-SHARED'],
      }),
    ],
  },
  'where slices have no name of their own, labels of the node tell the profile': {
    policy: governed({
      sharing: 'mig',
      mig: { profile: '1g.10gb', exposure: 'selector', nodeLabels: { 'nvidia.com/mig.config': 'all-{profile}' } },
    }),
    pod: pod(one),
    want: [requires({ key: 'nvidia.com/mig.config', operator: 'In', values: ['all-1g.10gb'] })],
  },
  'a pod without a GPU is not placed': { policy: shared, pod: pod(asking({ cpu: 1 })), want: [] },
  'nor is one with zero GPUs': { policy: shared, pod: pod(asking({ 'nvidia.com/gpu': 0 })), want: [] },
  'nor one with a GPU of another vendor': { policy: shared, pod: pod(asking({ 'amd.com/gpu': 1 })), want: [] },
  'a node selector that says the same is enough': {
    policy: shared,
    pod: pod(one, { nodeSelector: { 'nvidia.com/gpu.sharing-strategy': 'time-slicing' } }),
    want: [],
  },
  'an alternative that lacks the expression needs it': {
    policy: shared,
    pod: pod(one, affinity({ matchExpressions: [isShared] }, { matchExpressions: [zone] })),
    want: [requires(isShared)],
  },
  'alternatives that all have it, or match nothing, need none': {
    policy: shared,
    pod: pod(one, affinity({ matchExpressions: [zone, isShared] }, {})),
    want: [],
  },
  'a pod of a DaemonSet is left to its controller, with a note': {
    policy: shared,
    pod: { ...pod(one), metadata: { ownerReferences: [{ kind: 'DaemonSet', controller: true }] } },
    want: [{ severity: 'note', field: 'spec' }],
  },
  'so is one whose node is named': {
    policy: shared,
    pod: pod(one, { nodeName: 'node-1' }),
    want: [{ severity: 'note', field: 'spec' }],
  },
  'a toleration is added once': {
    policy: tolerating,
    pod: pod(one),
    want: [{ type: 'add-toleration', toleration, required: false }],
  },
  'a toleration of every effect covers it': {
    policy: tolerating,
    pod: pod(one, { tolerations: [{ key: 'nvidia.com/gpu', operator: 'Exists' }] }),
    want: [],
  },
  'a toleration of every taint covers it': {
    policy: tolerating,
    pod: pod(one, { tolerations: [{ operator: 'Exists' }] }),
    want: [],
  },
  'one with a value does not cover every value': {
    policy: tolerating,
    pod: pod(one, {
      tolerations: [{ key: 'nvidia.com/gpu', operator: 'Equal', value: 'present', effect: 'NoSchedule' }],
    }),
    want: [{ type: 'add-toleration', toleration, required: false }],
  },
});

it('every alternative of the affinity gets every expression, and an empty one stays', () => {
  const policy = governed({
    sharing: 'time-slicing',
    timeSlicing: { requireSharedNode: true, products: ['Tesla-T4'] },
  });
  const before = pod(one, affinity({ matchExpressions: [zone] }, {}, { matchFields: [zone] }));
  const { changes }: Verdict = judge(before, { policy });
  const added = patchOf(before, changes, []).filter(({ path }) => path.startsWith('/spec/affinity'));
  const terms = '/spec/affinity/nodeAffinity/requiredDuringSchedulingIgnoredDuringExecution/nodeSelectorTerms';
  expect(added.map(({ path }) => path)).toEqual([
    `${terms}/0/matchExpressions/-`,
    `${terms}/0/matchExpressions/-`,
    `${terms}/2/matchExpressions`,
    `${terms}/2/matchExpressions/-`,
    `${terms}/2/matchExpressions/-`,
  ]);
});
