import { expect, it } from 'vitest';
import { asking, governed, judge, LIMIT, labelled, pod, sharedNode, table } from './testing.ts';

const refused = (value: string, field = LIMIT) => [{ severity: 'error', field, value }];
const limit = (value: unknown) => pod(asking({ 'nvidia.com/gpu': value }));
const applied = (value: unknown) => ({
  metadata: {
    annotations: {
      'kubectl.kubernetes.io/last-applied-configuration': JSON.stringify(limit(value)),
    },
  },
});

table('GPU002', {
  'a decimal fraction is refused': { pod: limit('0.5'), want: refused('0.5') },
  'a number is refused as it is written': { pod: limit(0.25), want: refused('0.25') },
  'milli is refused, with the plain number beside it': { pod: limit('1500m'), want: refused('1500m (1.5)') },
  'an exponent is refused': { pod: limit('5e-1'), want: refused('5e-1 (0.5)') },
  'a nano is refused': { pod: limit('1n'), want: refused('1n (0.000000001)') },
  'a value beyond the smallest one is refused': { pod: limit('1e-30'), want: refused('1e-30 (0.000000001)') },
  'a negative fraction is refused': { pod: limit('-0.5'), want: refused('-0.5') },
  'whole values in odd spellings pass': {
    pod: pod(['1000m', '1.0', '1e0', '0.1k', '1Ki', '+1', '.5e1'].map((v) => asking({ 'nvidia.com/gpu': v }))),
    want: [],
  },
  'a value is told once when limit and request are the same fraction': { pod: limit('0.5'), want: refused('0.5') },
  'a fraction in the request alone is found there': {
    pod: pod(asking({ 'nvidia.com/gpu': 1 }, { 'nvidia.com/gpu': '0.5' })),
    want: refused('0.5', 'spec.containers[0].resources.requests[nvidia.com/gpu]'),
  },
  'the spelling that the user applied is shown': {
    pod: limit('500m'),
    object: applied(0.5),
    want: refused('0.5'),
  },
  'a spelling that rounds to another value is not believed': {
    pod: limit('500m'),
    object: applied('0.7'),
    want: refused('500m (0.5)'),
  },
  'a spelling is cut to what a message can hold': {
    pod: limit('500m'),
    object: applied(`0.5${'0'.repeat(5000)}`),
    want: refused(`0.5${'0'.repeat(37)}...`),
  },
  'a template is named by its path': {
    pod: limit('0.5'),
    path: ['spec', 'template'],
    want: refused('0.5', 'spec.template.spec.containers[0].resources.limits[nvidia.com/gpu]'),
  },
});

const mps = { sharing: 'mps' };
const shared = { sharing: 'time-slicing', timeSlicing: { resource: 'nvidia.com/gpu.shared' } };
it.each([
  [
    'without a policy',
    { value: '0.5' },
    'Ask for 1; to use part of a GPU the namespace needs a policy for MIG or time-slicing.',
  ],
  [
    'where GPUs are exclusive',
    { value: '2.5', policy: labelled({ sharing: 'exclusive' }) },
    'Ask for 3; to use part of a GPU the namespace needs a policy for MIG or time-slicing.',
  ],
  [
    'under MIG',
    { value: '0.5', policy: labelled({ 'mig-profile': '1g.10gb' }) },
    'Ask for 1: here one unit is a MIG slice 1g.10gb.',
  ],
  [
    'under MPS with two replicas',
    { value: '0.5', policy: governed(mps), nodes: [sharedNode(16384, 2, { strategy: 'mps' })] },
    'Ask for 1: here one unit is half of a GPU.',
  ],
  [
    'with ten replicas',
    { value: '0.5', policy: governed({ sharing: 'time-slicing' }), nodes: [sharedNode(16384, 10)] },
    'Ask for 1: here one unit is 1/10 of a GPU.',
  ],
  [
    'with nodes that differ',
    {
      value: '0.5',
      policy: governed({ sharing: 'time-slicing' }),
      nodes: [sharedNode(16384, 4), sharedNode(16384, 2)],
    },
    'Ask for 1: here one unit is a share of a GPU.',
  ],
  [
    'under a shared name',
    { value: '0.5', policy: governed(shared), nodes: [sharedNode(16384, 3, { resource: 'nvidia.com/gpu.shared' })] },
    'Ask for 1: here one unit is a third of a GPU.',
  ],
  [
    'for another vendor',
    { value: '0.5', resource: 'amd.com/gpu', policy: labelled({ 'mig-profile': '1g.10gb' }) },
    'Ask for 1.',
  ],
  [
    'for a slice that the user names',
    { value: '0.5', resource: 'nvidia.com/mig-2g.20gb', policy: labelled({ 'mig-profile': '1g.10gb' }) },
    'Ask for 1: one unit is a MIG slice 2g.20gb.',
  ],
  ['under a broken policy', { value: '0.5', policy: labelled({ sharing: 'mgi' }) }, 'Ask for 1.'],
])('advises %s', (_, { value, resource = 'nvidia.com/gpu', ...world }: { value: string; resource?: string }, fix) => {
  const { findings } = judge(pod(asking({ [resource]: value })), world);
  expect(findings.find(({ code }) => code === 'GPU002')?.fix).toBe(fix);
});
