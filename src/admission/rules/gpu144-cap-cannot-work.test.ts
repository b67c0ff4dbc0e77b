import { governed, labelled, pod, table, withEnv } from './testing.ts';

const policy = labelled({ sharing: 'time-slicing' });
const warned = (value: string, index = 0) => [
  { severity: 'warning', field: `spec.containers[0].env[${index}]`, value },
];
const MPS = { CUDA_MPS_PINNED_DEVICE_MEM_LIMIT: '0=4G' };
const BOTH = { XLA_PYTHON_CLIENT_MEM_FRACTION: '.1', XLA_CLIENT_MEM_FRACTION: '.1' };

table('GPU144', {
  'the limit of MPS under time-slicing': { pod: pod(withEnv(MPS)), policy, want: warned('0=4G') },
  'the limit of MPS under MPS is fine': { pod: pod(withEnv(MPS)), policy: labelled({ sharing: 'mps' }), want: [] },
  'two letters for HAMi-core': { pod: pod(withEnv({ CUDA_DEVICE_MEMORY_LIMIT: '1Gi' })), policy, want: warned('1Gi') },
  'one letter for HAMi-core is fine': { pod: pod(withEnv({ CUDA_DEVICE_MEMORY_LIMIT: '1g' })), policy, want: [] },
  'two letters are corrected where the policy sets the variable': {
    pod: pod(withEnv({ CUDA_DEVICE_MEMORY_LIMIT: '1Gi' })),
    policy: governed({ sharing: 'time-slicing', memoryCap: { amount: '4Gi', frameworks: ['hami-core'] } }),
    want: [],
  },
  'both names of JAX, with which it does not start': { pod: pod(withEnv(BOTH)), policy, want: warned('.1') },
  'a variable that vLLM never read': {
    pod: pod(withEnv({ VLLM_GPU_MEMORY_UTILIZATION: '0.2' })),
    policy,
    want: warned('0.2'),
  },
  'a variable that Ollama reads no more': {
    pod: pod(withEnv({ A: '1', OLLAMA_MAX_VRAM: '1' })),
    policy,
    want: warned('1', 1),
  },
  'a container without a GPU is not told': { pod: pod(withEnv(MPS, {})), policy, want: [] },
  'a slice is not told: nothing is shared': {
    pod: pod(withEnv(MPS, { 'nvidia.com/mig-1g.10gb': 1 })),
    policy,
    want: [],
  },
  'without a policy nothing is told': { pod: pod(withEnv(MPS)), want: [] },
});
