import { asking, governed, ONE_GPU, pod, sharedNode, table } from './testing.ts';

const T4 = sharedNode(16384, 4);
const one = pod(asking(ONE_GPU));
const cap = (memoryCap: object) => governed({ sharing: 'time-slicing', memoryCap });
const warned = [{ severity: 'warning', field: 'spec' }];
const wishWarned = (value: string) => [
  { severity: 'warning', field: 'metadata.annotations[gpugate.dev/memory-cap]', value },
];
const wish = (value: string) => pod(asking(ONE_GPU), {}, { 'gpugate.dev/memory-cap': value });

table('GPU143', {
  'auto with a node is computed': { pod: one, policy: cap({ amount: 'auto' }), nodes: [T4], want: [] },
  'auto without a node is not': { pod: one, policy: cap({ amount: 'auto' }), want: warned },
  'auto with a fallback is answered by it, in MiB only': {
    pod: one,
    policy: cap({ amount: 'auto', fallback: '4Gi' }),
    want: warned,
  },
  'which is nothing to tell where no framework takes a fraction': {
    pod: one,
    policy: cap({ amount: 'auto', fallback: '4Gi', frameworks: ['cupy'] }),
    want: [],
  },
  'shares that differ are told': {
    pod: one,
    policy: cap({ amount: 'auto' }),
    nodes: [T4, sharedNode(81920, 4)],
    want: warned,
  },
  'a share too small is told': {
    pod: one,
    policy: cap({ amount: 'auto' }),
    nodes: [sharedNode(2048, 4)],
    want: warned,
  },
  'a quantity that is no fraction is told': { pod: one, policy: cap({ amount: '4Gi' }), want: warned },
  'and is not where no framework takes fractions': {
    pod: one,
    policy: cap({ amount: '4Gi', frameworks: ['paddle', 'cupy'] }),
    want: [],
  },
  'a percentage without a node is told': { pod: one, policy: cap({ amount: '25%' }), want: warned },
  'a wish that cannot be compared is told, and the policy stays': {
    pod: wish('50%'),
    policy: cap({ amount: '4Gi', frameworks: ['paddle'] }),
    want: wishWarned('50%'),
  },
  'a wish that gives no cap is told, and the policy stays': {
    pod: wish('auto'),
    policy: cap({ amount: '4Gi', frameworks: ['paddle'] }),
    want: wishWarned('auto'),
  },
  'a node without a number of replicas tells no share': {
    pod: one,
    policy: cap({ amount: 'auto' }),
    nodes: [sharedNode(16384, 4, { labels: { 'nvidia.com/gpu.replicas': 'four' } })],
    want: warned,
  },
  'a template is named by its path': {
    pod: one,
    path: ['spec', 'template'],
    policy: cap({ amount: 'auto' }),
    want: [{ severity: 'warning', field: 'spec.template.spec' }],
  },
  'a pod without GPUs is told nothing': {
    pod: pod(asking({ 'nvidia.com/gpu': 0 })),
    policy: cap({ amount: 'auto' }),
    want: [],
  },
});
