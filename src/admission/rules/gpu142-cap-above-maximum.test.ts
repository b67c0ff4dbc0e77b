import { asking, governed, ONE_GPU, pod, sharedNode, table } from './testing.ts';

const nodes = [sharedNode(16384, 4)];
const wish = (value: string) => pod(asking(ONE_GPU), {}, { 'gpugate.dev/memory-cap': value });
const cap = (memoryCap: object) => governed({ sharing: 'time-slicing', memoryCap });
const refused = (value: string) => [
  { severity: 'error', field: 'metadata.annotations[gpugate.dev/memory-cap]', value },
];
const bounded = cap({ amount: '4Gi', max: '8Gi' });

table('GPU142', {
  'the maximum is allowed': { pod: wish('8Gi'), policy: bounded, nodes, want: [] },
  'more is refused': { pod: wish('8193Mi'), policy: bounded, nodes, want: refused('8193Mi') },
  'more in percent is refused': { pod: wish('51%'), policy: bounded, nodes, want: refused('51%') },
  'more than the amount is refused where there is no maximum': {
    pod: wish('5Gi'),
    policy: cap({ amount: '4Gi' }),
    nodes,
    want: refused('5Gi'),
  },
  'more than the share is refused where there is no maximum': {
    pod: wish('4Gi'),
    policy: cap({ amount: 'auto' }),
    nodes,
    want: refused('4Gi'),
  },
  'a larger percentage is refused without a node too': {
    pod: wish('50%'),
    policy: cap({ amount: '25%' }),
    want: refused('50%'),
  },
  'a quantity above the maximum is refused without a node too': {
    pod: wish('9Gi'),
    policy: bounded,
    want: refused('9Gi'),
  },
  'no cap is refused': { pod: wish('0'), policy: bounded, nodes, want: refused('0') },
  'no cap is refused where auto cannot be computed': {
    pod: wish('0'),
    policy: cap({ amount: 'auto' }),
    want: refused('0'),
  },
  'no cap is what a policy without a cap says': { pod: wish('0'), policy: cap({ amount: 0 }), nodes, want: [] },
  'a wish of a pod without GPUs does nothing': {
    pod: pod(asking({ 'nvidia.com/gpu': 0 }), {}, { 'gpugate.dev/memory-cap': '9Gi' }),
    policy: bounded,
    nodes,
    want: [],
  },
  'a template is named by its path': {
    pod: wish('9Gi'),
    path: ['spec', 'template'],
    policy: bounded,
    nodes,
    want: [{ ...refused('9Gi')[0], field: 'spec.template.metadata.annotations[gpugate.dev/memory-cap]' }],
  },
});
