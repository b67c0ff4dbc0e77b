import { asking, container, LIMIT, pod, table } from './testing.ts';

const refused = (value: string, field = LIMIT) => [{ severity: 'error', field, value }];
const limit = (value: unknown) => pod(asking({ 'nvidia.com/gpu': value }, {}));
const bad = { resources: { limits: { 'nvidia.com/gpu': 'one' } } };
const field = (list: string) => `spec.${list}[0].resources.limits[nvidia.com/gpu]`;

table('GPU001', {
  'a word is refused': { pod: limit('one'), want: refused('one') },
  'an empty text is refused': { pod: limit(''), want: refused('') },
  'null is refused': { pod: limit(null), want: refused('null') },
  'true is refused': { pod: limit(true), want: refused('true') },
  'a list is refused': { pod: limit([1]), want: refused('[1]') },
  'an object is refused': { pod: limit({ a: 1 }), want: refused('{"a":1}') },
  'a hexadecimal number is refused': { pod: limit('0x1'), want: refused('0x1') },
  'a digit of another script is refused': { pod: limit('١'), want: refused('١') },
  'a long value is cut in the message': { pod: limit('x'.repeat(5000)), want: refused(`${'x'.repeat(40)}...`) },
  'control characters do not reach the message': { pod: limit('a\n\u202Eb'), want: refused('a  b') },
  'spaces around and a plus sign are read as the API server reads them': { pod: limit(' +1 '), want: [] },
  'a JSON number is a quantity': { pod: limit(1), want: [] },
  'a request is judged too': {
    pod: pod(asking({ 'nvidia.com/gpu': 1 }, { 'nvidia.com/gpu': 'one' })),
    want: refused('one', 'spec.containers[0].resources.requests[nvidia.com/gpu]'),
  },
  'every kind of container is judged': {
    pod: pod(container('app', bad), {
      initContainers: [container('init', bad), container('sidecar', { ...bad, restartPolicy: 'Always' })],
      ephemeralContainers: [container('debug', bad)],
    }),
    want: [
      ...refused('one', field('initContainers')),
      ...refused('one', field('initContainers').replace('0', '1')),
      ...refused('one', field('containers')),
      ...refused('one', field('ephemeralContainers')),
    ],
  },
  'other vendors are judged': {
    pod: pod(asking({ 'amd.com/gpu': 'one' }, {})),
    want: refused('one', 'spec.containers[0].resources.limits[amd.com/gpu]'),
  },
  'a resource of the configuration is judged': {
    pod: pod(asking({ 'example.com/npu': 'one' }, {})),
    gpuResources: ['example.com/npu'],
    want: refused('one', 'spec.containers[0].resources.limits[example.com/npu]'),
  },
  'resources that only look alike are not judged': {
    pod: pod(asking({ 'nvidia.com/gpumem': 'one', 'nvidia.com/hostdev': 'one', 'nvidia.com/gpucores': '' }, {})),
    want: [],
  },
  'a field of an unexpected type is left to the API server': {
    pod: pod(container('x', { resources: 'one' })),
    want: [],
  },
});
