import { asking, governed, LIMIT, labelled, pod, table } from './testing.ts';

const SHARED = 'nvidia.com/gpu.shared';
const units = (count: unknown, name = 'nvidia.com/gpu') => pod(asking({ [name]: count }));
const slicing = (multiple: string, resource = 'nvidia.com/gpu') =>
  governed({ sharing: 'time-slicing', timeSlicing: { multiple, resource } });
const found = (severity: string, field = LIMIT) => [{ severity, field, value: '2' }];

table('GPU120', {
  'time-slicing warns of two units': {
    pod: units(2),
    policy: labelled({ sharing: 'time-slicing' }),
    want: found('warning'),
  },
  'MPS refuses two units': { pod: units(2), policy: labelled({ sharing: 'mps' }), want: found('error') },
  'a policy may refuse them under time-slicing': { pod: units(2), policy: slicing('deny'), want: found('error') },
  'a policy may allow them under MPS': {
    pod: units(2),
    policy: governed({ sharing: 'mps', mps: { multiple: 'allow' } }),
    want: [],
  },
  'one unit is fine': { pod: units(1), policy: slicing('deny'), want: [] },
  'units that will be renamed are judged': { pod: units(2), policy: slicing('deny', SHARED), want: found('error') },
  'the shared name is judged wherever GPUs are shared': {
    pod: units(2, SHARED),
    policy: slicing('deny'),
    want: found('error', `spec.containers[0].resources.limits[${SHARED}]`),
  },
  'slices are not shares': { pod: units(2, 'nvidia.com/mig-1g.10gb'), policy: slicing('deny'), want: [] },
  'other vendors are not judged': { pod: units(2, 'amd.com/gpu'), policy: slicing('deny'), want: [] },
  'exclusive GPUs are not judged': { pod: units(2), policy: labelled({ sharing: 'exclusive' }), want: [] },
  'a default of two that a LimitRange brings back beside the share is not judged': {
    pod: pod(
      asking({ 'nvidia.com/gpu': 2, [SHARED]: 1 }),
      {},
      { 'gpugate.dev/original': '{"train":{"nvidia.com/gpu":"1"}}' },
    ),
    policy: slicing('deny', SHARED),
    want: [],
  },
});
