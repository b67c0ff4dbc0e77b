import { asking, labelled, pod, table } from './testing.ts';

const limitOnly = (value: unknown, resource = 'nvidia.com/gpu') => pod(asking({ [resource]: value }, {}));
const set = (quantity: string, resource = 'nvidia.com/gpu') => [
  { type: 'set-request', container: 'train', resource, quantity, required: false },
];

table('GPU006', {
  'the request follows the limit': { pod: limitOnly(2), want: set('2') },
  'the spelling of the limit is kept': { pod: limitOnly('0.1k'), want: set('0.1k') },
  'a long spelling is not cut': { pod: limitOnly(`1.${'0'.repeat(60)}`), want: set(`1.${'0'.repeat(60)}`) },
  'zero is copied too': { pod: limitOnly(0), want: set('0') },
  'other vendors follow as well': { pod: limitOnly(1, 'amd.com/gpu'), want: set('1', 'amd.com/gpu') },
  'a request that stands is left': { pod: pod(asking({ 'nvidia.com/gpu': 1 })), want: [] },
  'an unsound limit is not copied': { pod: limitOnly('0.5'), want: [] },
  'a resource that is renamed gets its request with the new name': {
    pod: limitOnly(1),
    policy: labelled({ 'mig-profile': '1g.10gb' }),
    want: [],
  },
  'a whole GPU that is dropped beside its slice gets none': {
    pod: pod(
      asking({ 'nvidia.com/gpu': 1, 'nvidia.com/mig-1g.10gb': 1 }, { 'nvidia.com/mig-1g.10gb': 1 }),
      {},
      { 'gpugate.dev/original': '{"train":{"nvidia.com/gpu":"1"}}' },
    ),
    policy: labelled({ 'mig-profile': '1g.10gb' }),
    want: [],
  },
});
