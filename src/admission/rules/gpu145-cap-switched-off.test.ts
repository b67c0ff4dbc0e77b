import { governed, labelled, pod, table, withEnv } from './testing.ts';

const cap = (frameworks: readonly string[], amount: unknown = '4Gi') =>
  governed({ sharing: 'time-slicing', memoryCap: { amount, frameworks } });
const off = (value: string, index = 0) => [{ severity: 'error', field: `spec.containers[0].env[${index}]`, value }];
const DISABLED = { CUDA_DISABLE_CONTROL: 'true' };
const from = [{ name: 'CUDA_DISABLE_CONTROL', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } }];

table('GPU145', {
  'HAMi-core switched off': { pod: pod(withEnv(DISABLED)), policy: cap([]), want: off('true') },
  'any word but false switches it off': {
    pod: pod(withEnv({ CUDA_DISABLE_CONTROL: 'yes' })),
    policy: cap([]),
    want: off('yes'),
  },
  'false leaves it on': { pod: pod(withEnv({ CUDA_DISABLE_CONTROL: 'False' })), policy: cap([]), want: [] },
  'empty leaves it on': { pod: pod(withEnv({ CUDA_DISABLE_CONTROL: '' })), policy: cap([]), want: [] },
  'a value from elsewhere may switch it off': {
    pod: pod(withEnv(from)),
    policy: cap([]),
    want: off('taken from elsewhere'),
  },
  'the last of several entries counts': {
    pod: pod(
      withEnv([
        { name: 'CUDA_DISABLE_CONTROL', value: 'false' },
        { name: 'CUDA_DISABLE_CONTROL', value: 'true' },
      ]),
    ),
    policy: cap([]),
    want: off('true', 1),
  },
  'the platform allocator of JAX': {
    pod: pod(withEnv({ XLA_PYTHON_CLIENT_ALLOCATOR: 'platform' })),
    policy: cap(['jax']),
    want: off('platform'),
  },
  'another allocator of JAX is bounded': {
    pod: pod(withEnv({ XLA_PYTHON_CLIENT_ALLOCATOR: 'bfc' })),
    policy: cap(['jax']),
    want: [],
  },
  'in whatever case it is written': {
    pod: pod(withEnv({ XLA_PYTHON_CLIENT_ALLOCATOR: 'Platform' })),
    policy: cap(['jax']),
    want: off('Platform'),
  },
  'an allocator of JAX that the fraction does not bound': {
    pod: pod(withEnv({ XLA_PYTHON_CLIENT_ALLOCATOR: 'cuda_async' })),
    policy: cap(['jax']),
    want: off('cuda_async'),
  },
  'a pool of CUDA in the place of the one that the fraction bounds': {
    pod: pod(withEnv({ TF_GPU_ALLOCATOR: 'cuda_malloc_async' })),
    policy: cap(['jax']),
    want: off('cuda_malloc_async'),
  },
  'another name for that pool is none': {
    pod: pod(withEnv({ TF_GPU_ALLOCATOR: 'bfc' })),
    policy: cap(['jax']),
    want: [],
  },
  'a value that another variable gives cannot be seen': {
    pod: pod(withEnv({ TF_GPU_ALLOCATOR: '$(POOL)' })),
    policy: cap(['jax']),
    want: off('$(POOL)'),
  },
  'unified memory': { pod: pod(withEnv({ TF_FORCE_UNIFIED_MEMORY: '1' })), policy: cap(['jax']), want: off('1') },
  'JAX is not looked at where the policy does not cap it': {
    pod: pod(withEnv({ XLA_PYTHON_CLIENT_ALLOCATOR: 'platform', TF_FORCE_UNIFIED_MEMORY: '1' })),
    policy: cap(['paddle']),
    want: [],
  },
  'nothing is switched off where there is no cap': {
    pod: pod(withEnv(DISABLED)),
    policy: labelled({ sharing: 'time-slicing' }),
    want: [],
  },
  'or a cap of zero': { pod: pod(withEnv(DISABLED)), policy: cap([], 0), want: [] },
  'a container without a GPU is not judged': { pod: pod(withEnv(DISABLED, {})), policy: cap([]), want: [] },
});
