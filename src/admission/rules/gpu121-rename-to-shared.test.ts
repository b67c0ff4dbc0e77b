import { asking, governed, labelled, ONE_GPU, pod, table } from './testing.ts';

const SHARED = 'nvidia.com/gpu.shared';
const policy = governed({ sharing: 'time-slicing', timeSlicing: { resource: SHARED } });
const renamed = {
  type: 'rename-resource',
  container: 'train',
  from: 'nvidia.com/gpu',
  to: SHARED,
  quantity: '1',
  required: true,
};
const before = { 'gpugate.dev/original': '{"train":{"nvidia.com/gpu":"1"}}' };

table('GPU121', {
  'a whole GPU becomes a share': { pod: pod(asking(ONE_GPU)), policy, want: [renamed] },
  'under MPS as well': {
    pod: pod(asking(ONE_GPU)),
    policy: governed({ sharing: 'mps', mps: { resource: SHARED } }),
    want: [renamed],
  },
  'a whole GPU becomes a share of a slice where slices are what is shared': {
    pod: pod(asking(ONE_GPU)),
    policy: governed({ sharing: 'time-slicing', timeSlicing: { resource: 'nvidia.com/mig-1g.10gb.shared' } }),
    want: [{ ...renamed, to: 'nvidia.com/mig-1g.10gb.shared' }],
  },
  'nothing is renamed where the plugin keeps the name': {
    pod: pod(asking(ONE_GPU)),
    policy: labelled({ sharing: 'time-slicing' }),
    want: [],
  },
  'the shared name is left': { pod: pod(asking({ [SHARED]: 1 })), policy, want: [] },
  'a slice is left': { pod: pod(asking({ 'nvidia.com/mig-1g.10gb': 1 })), policy, want: [] },
  'zero is left': { pod: pod(asking({ 'nvidia.com/gpu': 0 })), policy, want: [] },
  'an old name that came back is dropped': {
    pod: pod(asking({ ...ONE_GPU, [SHARED]: 1 }), {}, before),
    policy,
    want: [{ type: 'drop-resource', container: 'train', resource: 'nvidia.com/gpu', required: true }],
  },
});
