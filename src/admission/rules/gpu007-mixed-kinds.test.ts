import { asking, container, labelled, ONE_GPU, pod, table } from './testing.ts';

const FIELD = 'spec.containers[0].resources.limits';
const policy = labelled({ sharing: 'time-slicing' });
const claiming = (limits: Readonly<Record<string, unknown>>) =>
  pod(container('train', { resources: { limits, requests: limits, claims: [{ name: 'g' }] } }));
const renamed = { 'gpugate.dev/original': '{"train":{"nvidia.com/gpu":"1"}}' };
const wholeAndSlice = { 'nvidia.com/gpu': 1, 'nvidia.com/mig-1g.10gb': 1 };

table('GPU007', {
  'a whole GPU and a slice are an error where a policy governs': {
    pod: pod(asking(wholeAndSlice)),
    policy,
    want: [{ severity: 'error', field: FIELD, value: 'nvidia.com/gpu, nvidia.com/mig-1g.10gb' }],
  },
  'and a warning without one': {
    pod: pod(asking(wholeAndSlice)),
    want: [{ severity: 'warning', field: FIELD, value: 'nvidia.com/gpu, nvidia.com/mig-1g.10gb' }],
  },
  'two profiles are two kinds': {
    pod: pod(asking({ 'nvidia.com/mig-2g.20gb': 1, 'nvidia.com/mig-1g.10gb': 1 })),
    policy,
    want: [{ severity: 'error', field: FIELD, value: 'nvidia.com/mig-1g.10gb, nvidia.com/mig-2g.20gb' }],
  },
  'exclusive and shared are two kinds': {
    pod: pod(asking({ 'nvidia.com/gpu': 1, 'nvidia.com/gpu.shared': 1 })),
    policy,
    want: [{ severity: 'error', field: FIELD, value: 'nvidia.com/gpu, nvidia.com/gpu.shared' }],
  },
  'zero of one of them is no second kind': {
    pod: pod(asking({ 'nvidia.com/gpu': 0, 'nvidia.com/mig-1g.10gb': 1 })),
    policy,
    want: [],
  },
  'two containers may have one kind each': {
    pod: pod([asking({ 'nvidia.com/gpu': 1 }), asking({ 'nvidia.com/mig-1g.10gb': 1 })]),
    policy,
    want: [],
  },
  'an old name that came back after a rename is no second kind': {
    pod: pod(asking(wholeAndSlice), {}, renamed),
    policy: labelled({ 'mig-profile': '1g.10gb' }),
    want: [],
  },
  'two slices beside an old name are still two kinds': {
    pod: pod(asking({ ...wholeAndSlice, 'nvidia.com/mig-2g.20gb': 1 }), {}, renamed),
    policy: labelled({ 'mig-profile': '1g.10gb' }),
    want: [{ severity: 'error', field: FIELD, value: 'nvidia.com/mig-1g.10gb, nvidia.com/mig-2g.20gb' }],
  },
  'an annotation about another container does not excuse this one': {
    pod: pod(asking(wholeAndSlice), {}, { 'gpugate.dev/original': '{"other":{"nvidia.com/gpu":"1"}}' }),
    policy: labelled({ 'mig-profile': '1g.10gb' }),
    want: [{ severity: 'error', field: FIELD, value: 'nvidia.com/gpu, nvidia.com/mig-1g.10gb' }],
  },
  'a DRA claim beside a GPU is warned of, with a policy and without': {
    pod: claiming(ONE_GPU),
    want: [{ severity: 'warning', field: 'spec.containers[0].resources.claims' }],
  },
  'a claim beside zero GPUs is not': { pod: claiming({ 'nvidia.com/gpu': 0 }), policy, want: [] },
  'nor is a claim alone': { pod: claiming({}), policy, want: [] },
  'nor is an empty list of claims': {
    pod: pod(container('train', { resources: { limits: ONE_GPU, requests: ONE_GPU, claims: [] } })),
    policy,
    want: [],
  },
});
