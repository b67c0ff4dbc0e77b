import { expect, it } from 'vitest';
import { misspeltGpuResource } from '../../policy/resources.ts';
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

it.each([
  ['gpu', 'nvidia.com/gpu'],
  ['NVIDIA.com/gpu', 'nvidia.com/gpu'],
  ['nvidia.com/GPU', 'nvidia.com/gpu'],
  ['nividia.com/gpu', 'nvidia.com/gpu'],
  ['nvidia.com/MIG-1g.10gb', 'nvidia.com/mig-1g.10gb'],
  ['nvdia.com/mig-1g.10gb', 'nvidia.com/mig-1g.10gb'],
  ['nvidia.co/gpu.shared', 'nvidia.com/gpu.shared'],
  ['amd.com/gpus', 'amd.com/gpu'],
  ['habana.com/gaudi', 'habana.ai/gaudi'],
])('%s means %s', (name, meant) => {
  expect(misspeltGpuResource(name)).toBe(meant);
});

it.each([
  'cpu',
  'ephemeral-storage',
  'nvidia.com/gpumem',
  'nvidia.com/gpucores',
  'nvidia.com/gpumem-percentage',
  'nvidia.com/hostdev',
  'rdma/hca',
  'vpc.amazonaws.com/pod-eni',
  'ibm.com/gpu',
  'aliyun.com/gpu-mem',
  'tencent.com/vcuda-core',
  'intel.com/gpu',
  'mthreads.com/gpu',
])('%s means something else', (name) => {
  expect(misspeltGpuResource(name)).toBeUndefined();
});
