import { asking, governed, labelled, ONE_GPU, pod, table } from './testing.ts';

const policy = labelled({ sharing: 'time-slicing' });
const one = asking(ONE_GPU);
const noted = (value: string) => [{ severity: 'note', field: 'spec.containers', value }];

table('GPU122', {
  'two containers with a unit each are noted': { pod: pod([one, one]), policy, want: noted('2') },
  'a sidecar runs beside the app': {
    pod: pod(one, { initContainers: [asking(ONE_GPU, ONE_GPU, { restartPolicy: 'Always' })] }),
    policy,
    want: noted('2'),
  },
  'an init container has ended before': { pod: pod(one, { initContainers: [one] }), policy, want: [] },
  'units that will be renamed are counted': {
    pod: pod([one, one]),
    policy: governed({ sharing: 'time-slicing', timeSlicing: { resource: 'nvidia.com/gpu.shared' } }),
    want: noted('2'),
  },
  'a container without GPUs is not counted': { pod: pod([one, asking({ 'nvidia.com/gpu': 0 })]), policy, want: [] },
  'exclusive GPUs are never the same': { pod: pod([one, one]), policy: labelled({ sharing: 'exclusive' }), want: [] },
});
