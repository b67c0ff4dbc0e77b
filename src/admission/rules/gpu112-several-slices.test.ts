import { asking, governed, LIMIT, pod, table } from './testing.ts';

const mig = (multiple: string) => governed({ sharing: 'mig', mig: { profile: '1g.10gb', multiple } });
const whole = (count: unknown) => pod(asking({ 'nvidia.com/gpu': count }));
const SLICE = 'nvidia.com/mig-1g.10gb';

table('GPU112', {
  'several whole GPUs would become several slices': {
    pod: whole(4),
    policy: mig('deny'),
    want: [{ severity: 'error', field: LIMIT, value: '4' }],
  },
  'the policy may warn instead': {
    pod: whole(2),
    policy: mig('warn'),
    want: [{ severity: 'warning', field: LIMIT, value: '2' }],
  },
  'the policy may allow them': { pod: whole(2), policy: mig('allow'), want: [] },
  'one is fine': { pod: whole(1), policy: mig('deny'), want: [] },
  'slices that the user names are judged too': {
    pod: pod(asking({ [SLICE]: 2 })),
    policy: mig('deny'),
    want: [{ severity: 'error', field: `spec.containers[0].resources.limits[${SLICE}]`, value: '2' }],
  },
  'two containers may have a slice each': {
    pod: pod([asking({ [SLICE]: 1 }), asking({ [SLICE]: 1 })]),
    policy: mig('deny'),
    want: [],
  },
  'other vendors are not judged': { pod: pod(asking({ 'amd.com/gpu': 4 })), policy: mig('deny'), want: [] },
  'a default of two that a LimitRange brings back beside the slice is not judged': {
    pod: pod(
      asking({ 'nvidia.com/gpu': 2, [SLICE]: 1 }),
      {},
      { 'gpugate.dev/original': '{"train":{"nvidia.com/gpu":"1"}}' },
    ),
    policy: mig('deny'),
    want: [],
  },
});
