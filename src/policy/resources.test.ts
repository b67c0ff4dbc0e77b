import { describe, expect, it } from 'vitest';
import { gpuResource, misspeltGpuResource } from './resources.ts';

describe('what counts as a GPU', () => {
  it.each([
    ['nvidia.com/gpu', 'whole', 'nvidia.com'],
    ['nvidia.com/gpu.shared', 'shared', 'nvidia.com'],
    ['nvidia.com/mig-1g.10gb', 'mig', 'nvidia.com'],
    ['nvidia.com/mig-1g.10gb.shared', 'mig', 'nvidia.com'],
    ['amd.com/gpu', 'whole', 'amd.com'],
    ['gpu.intel.com/i915', 'whole', 'gpu.intel.com'],
    ['gpu.intel.com/xe', 'whole', 'gpu.intel.com'],
    ['habana.ai/gaudi', 'whole', 'habana.ai'],
  ])('%s is %s', (name, kind, vendor) => {
    expect(gpuResource(name)).toMatchObject({ name, kind, vendor });
  });

  it.each([
    'nvidia.com/gpumem',
    'nvidia.com/gpucores',
    'nvidia.com/hostdev',
    'nvidia.com/GPU',
    'rdma/hca',
    'cpu',
    'constructor',
  ])('%s is not', (name) => {
    expect(gpuResource(name)).toBeUndefined();
  });

  it('the configuration adds names', () => {
    expect(gpuResource('example.com/npu', ['example.com/npu'])).toMatchObject({ kind: 'whole', vendor: 'example.com' });
  });
});

describe('misspelt names', () => {
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
    'constructor',
    '__proto__',
  ])('%s means something else', (name) => {
    expect(misspeltGpuResource(name)).toBeUndefined();
  });
});
