import { asking, container, pod, table } from './testing.ts';

const named = (name: string) => pod(asking({ [name]: 1 }));
const warned = (name: string) => [
  { severity: 'warning', field: `spec.containers[0].resources.limits[${name}]`, value: name },
];

table('GPU008', {
  'a misspelt vendor is warned about': { pod: named('nvdia.com/gpu'), want: warned('nvdia.com/gpu') },
  'a plural is warned about': { pod: named('nvidia.com/gpus'), want: warned('nvidia.com/gpus') },
  'a name in requests alone is found': {
    pod: pod(container('train', { resources: { requests: { 'nvidia.com/gpus': 1 } } })),
    want: warned('nvidia.com/gpus'),
  },
  'the name from before device plugins is warned about': {
    pod: named('alpha.kubernetes.io/nvidia-gpu'),
    want: warned('alpha.kubernetes.io/nvidia-gpu'),
  },
  'a name that some node advertises is no mistake': {
    pod: named('nvdia.com/gpu'),
    nodes: [{ name: 'odd', labels: {}, allocatable: { 'nvdia.com/gpu': '1' } }],
    want: [],
  },
  'a name that the configuration counts is no mistake': {
    pod: named('nvidia.com/gpus'),
    gpuResources: ['nvidia.com/gpus'],
    want: [],
  },
  'names that every JavaScript object has are no aliases': {
    pod: pod(asking(JSON.parse('{"constructor":1,"__proto__":1,"toString":1}'))),
    want: [],
  },
});
