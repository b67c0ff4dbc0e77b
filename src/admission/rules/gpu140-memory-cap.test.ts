import { describe, expect, it } from 'vitest';
import type { NodeInfo } from '../snapshot.ts';
import { asking, container, governed, judge, labelled, ONE_GPU, pod, sharedNode, table, withEnv } from './testing.ts';

const T4 = sharedNode(16384, 4);
const cap = (memoryCap: object, labels = {}) => governed({ sharing: 'time-slicing', memoryCap }, labels);
const only = (framework: string, amount = '25%') => cap({ amount, frameworks: [framework] });
const set = (name: string, value: string, required = true) => ({
  type: 'set-env',
  container: 'train',
  name,
  value,
  required,
});
const neutral = (mib: number, fraction: string, required = true) => [
  set('GPU_MEMORY_LIMIT_MIB', String(mib), required),
  set('GPU_MEMORY_FRACTION', fraction, required),
];
const one = pod(asking(ONE_GPU));
const quarter = [T4];

table('GPU140', {
  'the default frameworks and the neutral names are set': {
    pod: one,
    policy: cap({ amount: '4Gi' }),
    nodes: quarter,
    want: [
      ...neutral(4096, '0.25'),
      set('NVIDIA_GPU_MEMORY_LIMIT', '4096'),
      set('NVIDIA_GPU_MEMORY_REQUEST', '4096'),
      set('XLA_PYTHON_CLIENT_MEM_FRACTION', '0.25'),
      set('TF_FORCE_GPU_ALLOW_GROWTH', 'true'),
      set('CUPY_GPU_MEMORY_LIMIT', '4294967296'),
      set('FLAGS_gpu_memory_limit_mb', '4096'),
    ],
  },
  'PyTorch is set only by name': {
    pod: one,
    policy: only('pytorch'),
    nodes: quarter,
    want: [...neutral(4096, '0.25'), set('PYTORCH_ALLOC_CONF', 'per_process_memory_fraction:0.25')],
  },
  'HAMi-core takes one letter': {
    pod: one,
    policy: only('hami-core'),
    nodes: quarter,
    want: [...neutral(4096, '0.25'), set('CUDA_DEVICE_MEMORY_LIMIT', '4096m')],
  },
  'TGI takes a fraction': {
    pod: one,
    policy: only('tgi'),
    nodes: quarter,
    want: [...neutral(4096, '0.25'), set('CUDA_MEMORY_FRACTION', '0.25')],
  },
  'MPS lists every device': {
    pod: pod(asking({ 'nvidia.com/gpu': 2 })),
    policy: governed({ sharing: 'mps', mps: { multiple: 'allow' }, memoryCap: { amount: '4Gi', frameworks: [] } }),
    nodes: [sharedNode(16384, 4, { strategy: 'mps' })],
    want: [...neutral(4096, '0.25'), set('CUDA_MPS_PINNED_DEVICE_MEM_LIMIT', '0=4096M,1=4096M')],
  },
  'MPS lists the share alone when an old name came back beside it': {
    pod: pod(
      asking({ ...ONE_GPU, 'nvidia.com/gpu.shared': 1 }),
      {},
      { 'gpugate.dev/original': '{"train":{"nvidia.com/gpu":"1"}}' },
    ),
    policy: governed({
      sharing: 'mps',
      mps: { resource: 'nvidia.com/gpu.shared' },
      memoryCap: { amount: '4Gi', frameworks: [] },
    }),
    nodes: [sharedNode(16384, 4, { strategy: 'mps', resource: 'nvidia.com/gpu.shared' })],
    want: [...neutral(4096, '0.25'), set('CUDA_MPS_PINNED_DEVICE_MEM_LIMIT', '0=4096M')],
  },
  'every container with a GPU is capped, and no other': {
    pod: pod(
      [asking(ONE_GPU), container('web'), asking({ 'nvidia.com/gpu': 0 }), asking({ 'nvidia.com/gpu': '0.5' })],
      {
        initContainers: [asking(ONE_GPU), asking(ONE_GPU, ONE_GPU, { restartPolicy: 'Always' })],
      },
    ),
    policy: cap({ amount: '4Gi', frameworks: [] }),
    nodes: quarter,
    want: [...neutral(4096, '0.25'), ...neutral(4096, '0.25'), ...neutral(4096, '0.25')],
  },
  'a slice is not capped: it has its own memory': {
    pod: pod(asking({ 'nvidia.com/mig-1g.10gb': 1 })),
    policy: cap({ amount: '4Gi' }),
    want: [],
  },
  'other vendors are not capped': { pod: pod(asking({ 'amd.com/gpu': 1 })), policy: cap({ amount: '4Gi' }), want: [] },
  'exclusive GPUs are not capped, whatever the policy says for shared ones': {
    pod: one,
    policy: cap({ amount: '4Gi' }, { 'gpugate.dev/sharing': 'exclusive' }),
    want: [],
  },
  'a namespace label beats the amount of the policy': {
    pod: one,
    policy: cap({ amount: '4Gi', frameworks: ['paddle'] }, { 'gpugate.dev/memory-cap': '2Gi' }),
    nodes: quarter,
    want: [...neutral(2048, '0.125'), set('FLAGS_gpu_memory_limit_mb', '2048')],
  },
  'a cap of zero sets nothing': {
    pod: one,
    policy: labelled({ sharing: 'time-slicing', 'memory-cap': '0' }),
    want: [],
  },
  'a pod of another scheduler is not capped': {
    pod: pod(asking(ONE_GPU), { schedulerName: 'kai' }),
    policy: governed({ sharing: 'time-slicing', memoryCap: { amount: '4Gi' }, otherSchedulers: ['kai'] }),
    want: [],
  },
  'a variable of the user is not added again, and what is added is no longer required': {
    pod: pod(withEnv({ GPU_MEMORY_LIMIT_MIB: '1024' })),
    policy: cap({ amount: '4Gi', frameworks: [] }),
    nodes: quarter,
    want: [set('GPU_MEMORY_FRACTION', '0.25', false)],
  },
  'the newer name of JAX stands for the older one': {
    pod: pod(withEnv({ XLA_CLIENT_MEM_FRACTION: '.1' })),
    policy: only('jax'),
    nodes: quarter,
    want: neutral(4096, '0.25', false),
  },
  'a request of the driver follows a stricter limit of the user': {
    pod: pod(withEnv({ NVIDIA_GPU_MEMORY_LIMIT: '1024' })),
    policy: only('nvidia'),
    nodes: quarter,
    want: [...neutral(4096, '0.25', false), set('NVIDIA_GPU_MEMORY_REQUEST', '1024', false)],
  },
});

/** What GPU140 makes of an amount: the neutral variables, MiB and fraction. */
function sizeOf(
  memoryCap: object,
  nodes: readonly NodeInfo[],
  wish?: string,
  spec: object = {},
): readonly (string | undefined)[] {
  const annotations = wish === undefined ? {} : { 'gpugate.dev/memory-cap': wish };
  const policy = cap({ frameworks: ['jax'], ...memoryCap });
  const { changes } = judge(pod(asking(ONE_GPU), spec as Record<string, unknown>, annotations), { policy, nodes });
  const value = (name: string) => changes.flatMap((c) => (c.type === 'set-env' && c.name === name ? [c.value] : []))[0];
  return [value('GPU_MEMORY_LIMIT_MIB'), value('GPU_MEMORY_FRACTION')];
}

const big = sharedNode(81920, 10, { name: 'big' });
const NONE = [undefined, undefined];

describe('the size of a cap', () => {
  it.each([
    ['auto is the share less the reserve', { amount: 'auto' }, [T4], ['3584', '0.218']],
    ['auto takes another reserve', { amount: 'auto', reserve: '1Gi' }, [T4], ['3072', '0.187']],
    ['auto takes no reserve', { amount: 'auto', reserve: 0 }, [T4], ['4096', '0.25']],
    ['auto rounds a share down', { amount: 'auto', reserve: 0 }, [sharedNode(16383, 4)], ['4095', '0.249']],
    ['auto stays below the maximum', { amount: 'auto', max: '2Gi' }, [T4], ['2048', '0.125']],
    ['auto over equal nodes is one share', { amount: 'auto' }, [T4, sharedNode(16384, 4)], ['3584', '0.218']],
    ['auto takes the smallest share and the smallest fraction', { amount: 'auto' }, [T4, big], ['3584', '0.093']],
    ['auto does not count a node without sharing', { amount: 'auto' }, [T4, sharedNode(81920, 1)], ['3584', '0.218']],
    [
      'auto does not count a node under MPS',
      { amount: 'auto' },
      [T4, sharedNode(8192, 4, { strategy: 'mps' })],
      ['3584', '0.218'],
    ],
    [
      'auto does not count a node with another resource',
      { amount: 'auto' },
      [T4, sharedNode(8192, 4, { resource: 'nvidia.com/gpu.shared' })],
      ['3584', '0.218'],
    ],
    ['auto without a node is the fallback, in MiB alone', { amount: 'auto', fallback: '4Gi' }, [], ['4096', undefined]],
    ['the fallback stays below the maximum', { amount: 'auto', fallback: '4Gi', max: '8Gi' }, [], ['4096', undefined]],
    ['auto without a node and a fallback is none', { amount: 'auto' }, [], NONE],
    ['a share of 256Mi is the smallest', { amount: 'auto', reserve: '3840Mi' }, [T4], ['256', '0.015']],
    ['a share below it is none', { amount: 'auto', reserve: '3841Mi' }, [T4], NONE],
    ['a share that the reserve eats up is none', { amount: 'auto', reserve: '8Gi' }, [T4], NONE],
    ['a quantity needs no node', { amount: '4Gi' }, [], ['4096', undefined]],
    ['a quantity is a fraction of equal GPUs', { amount: '4Gi' }, [T4, sharedNode(16384, 8)], ['4096', '0.25']],
    ['a quantity is no fraction of GPUs that differ', { amount: '4Gi' }, [T4, big], ['4096', undefined]],
    ['a quantity above the GPU is all of it', { amount: '24Gi' }, [T4], ['24576', '1']],
    ['a quantity in decimal units is rounded down', { amount: '4G' }, [T4], ['3814', '0.232']],
    ['a percentage is of the whole GPU', { amount: '12.5%' }, [T4], ['2048', '0.125']],
    ['a percentage is of the smallest GPU', { amount: '25%' }, [T4, big], ['4096', '0.25']],
    ['a percentage without a node is a fraction alone', { amount: '25%' }, [], [undefined, '0.25']],
    ['a percentage stays below the maximum on every GPU', { amount: '25%', max: '8Gi' }, [T4, big], ['4096', '0.1']],
    ['a percentage that comes to less than any program needs is none', { amount: '1%' }, [T4], NONE],
  ])('%s', (_, memoryCap, nodes, want) => {
    expect(sizeOf(memoryCap, nodes)).toEqual(want);
  });

  it.each([
    ['a pod may ask for less', { amount: '4Gi' }, '1Gi', ['1024', '0.062']],
    ['a pod may ask for less in percent', { amount: '4Gi' }, '10%', ['1638', '0.1']],
    ['a pod may ask for a share', { amount: '8Gi' }, 'auto', ['3584', '0.218']],
    ['a share stays below the amount of the policy', { amount: '2Gi' }, 'auto', ['2048', '0.125']],
    ['a pod may ask for up to the maximum', { amount: '4Gi', max: '8Gi' }, '8Gi', ['8192', '0.5']],
    ['a pod may ask for up to the maximum in percent', { amount: '4Gi', max: '8Gi' }, '50%', ['8192', '0.5']],
    ['more than the maximum leaves the cap of the policy', { amount: '4Gi', max: '8Gi' }, '9Gi', ['4096', '0.25']],
    ['more than the policy leaves its cap', { amount: '4Gi' }, '5Gi', ['4096', '0.25']],
    ['zero leaves the cap of the policy', { amount: '4Gi' }, '0', ['4096', '0.25']],
    ['a word leaves the cap of the policy', { amount: '4Gi' }, 'lots', ['4096', '0.25']],
    ['too small a percentage leaves the cap of the policy', { amount: '4Gi' }, '1%', ['4096', '0.25']],
    ['a pod may cap itself where the policy does not', { amount: '0' }, '4Gi', ['4096', '0.25']],
    ['zero is what the policy says', { amount: '0' }, '0', NONE],
  ])('by annotation: %s', (_, memoryCap, wish, want) => {
    expect(sizeOf(memoryCap, [T4], wish)).toEqual(want);
  });

  it.each([
    ['auto leaves the quantity of the policy', { amount: '4Gi' }, 'auto', ['4096', undefined]],
    ['auto leaves the percentage of the policy', { amount: '25%' }, 'auto', [undefined, '0.25']],
    ['a percentage leaves the quantity of the policy', { amount: '4Gi' }, '50%', ['4096', undefined]],
    ['a quantity leaves the percentage of the policy', { amount: '25%' }, '1Gi', [undefined, '0.25']],
    ['a percentage may lower a percentage', { amount: '25%' }, '10%', [undefined, '0.1']],
    ['a percentage may not raise a percentage', { amount: '25%' }, '50%', [undefined, '0.25']],
    ['a quantity caps where auto cannot be computed', { amount: 'auto' }, '4Gi', ['4096', undefined]],
    ['but not above the maximum', { amount: 'auto', max: '2Gi' }, '4Gi', NONE],
  ])('by annotation without a node: %s', (_, memoryCap, wish, want) => {
    expect(sizeOf(memoryCap, [], wish)).toEqual(want);
  });

  it('by annotation: a percentage stays below the maximum on every GPU that the pod can reach', () => {
    expect(sizeOf({ amount: '4Gi', max: '8Gi' }, [T4, big], '50%')).toEqual(['8192', '0.1']);
  });

  it('is computed over the nodes that the pod can reach', () => {
    const nodes = [T4, big];
    const selector = { nodeSelector: { 'nvidia.com/gpu.product': 'GPU-81920' } };
    expect(sizeOf({ amount: 'auto' }, nodes, undefined, selector)).toEqual(['7680', '0.093']);
    expect(sizeOf({ amount: 'auto' }, nodes, undefined, { nodeName: 'node' })).toEqual(['3584', '0.218']);
  });
});
