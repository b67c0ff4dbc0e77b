import { describe, expect, it } from 'vitest';
import { governed, judge, ONE_GPU, pod, sharedNode, table, withEnv } from './testing.ts';

const nodes = [sharedNode(16384, 4)];
const frameworks = ['nvidia', 'jax', 'tensorflow', 'cupy', 'paddle', 'pytorch', 'hami-core', 'tgi'];
const policy = governed({ sharing: 'time-slicing', memoryCap: { amount: '4Gi', frameworks } });
const auto = governed({ sharing: 'time-slicing', memoryCap: { amount: 'auto', frameworks } });
const mps = governed({ sharing: 'mps', mps: { multiple: 'allow' }, memoryCap: { amount: '4Gi', frameworks: [] } });
const mpsNodes = [sharedNode(16384, 4, { strategy: 'mps' })];

const CAP = { mib: '4096', fraction: '0.25', bytes: '4294967296', hami: '4096m', mps: '0=4096M' };
const KEY = 'per_process_memory_fraction';

/** For each variable the values that stay, and what another value becomes. The cap is 4Gi, a quarter of the GPU. */
const syntax: Readonly<Record<string, { stay: readonly string[]; become: Readonly<Record<string, string>> }>> = {
  NVIDIA_GPU_MEMORY_LIMIT: {
    stay: ['4096', '1', '0004096'],
    become: {
      '4097': CAP.mib,
      '0': CAP.mib,
      '4Gi': CAP.mib,
      '-1': CAP.mib,
      '': CAP.mib,
      ' 1': CAP.mib,
      '1.5': CAP.mib,
      lots: CAP.mib,
    },
  },
  FLAGS_gpu_memory_limit_mb: { stay: ['4096', '1024'], become: { '0': CAP.mib, '8192': CAP.mib, '1Gi': CAP.mib } },
  GPU_MEMORY_LIMIT_MIB: { stay: ['4096'], become: { '4097': CAP.mib, '0': CAP.mib, x: CAP.mib } },
  GPU_MEMORY_FRACTION: { stay: ['0.25', '.1'], become: { '0.251': CAP.fraction, '25%': CAP.fraction } },
  XLA_PYTHON_CLIENT_MEM_FRACTION: {
    stay: ['.25', '0.25', '0.2500', '2.5e-1', '.10', '0'],
    become: {
      '0.95': CAP.fraction,
      '1': CAP.fraction,
      '.2501': CAP.fraction,
      nan: CAP.fraction,
      inf: CAP.fraction,
      '-1': CAP.fraction,
      '1/4': CAP.fraction,
      '': CAP.fraction,
      '250m': CAP.fraction,
    },
  },
  XLA_CLIENT_MEM_FRACTION: { stay: ['.25'], become: { '.75': CAP.fraction } },
  CUDA_MEMORY_FRACTION: { stay: ['0.2'], become: { '1.0': CAP.fraction, all: CAP.fraction } },
  TF_FORCE_GPU_ALLOW_GROWTH: { stay: ['true'], become: { false: 'true', True: 'true', '1': 'true', '': 'true' } },
  CUPY_GPU_MEMORY_LIMIT: {
    stay: ['4294967296', '1073741824', '25%', '12.5%'],
    become: {
      '4294967297': CAP.bytes,
      '0': CAP.bytes,
      '0%': CAP.bytes,
      '0.00001%': CAP.bytes,
      '26%': CAP.bytes,
      '100%': CAP.bytes,
      '1GiB': CAP.bytes,
      '512MB': CAP.bytes,
      '%': CAP.bytes,
    },
  },
  CUDA_DEVICE_MEMORY_LIMIT: {
    stay: ['4096m', '4096M', '4g', '1G', '1024', '1024k'],
    become: {
      '5g': CAP.hami,
      '0': CAP.hami,
      '0m': CAP.hami,
      '4Gi': CAP.hami,
      '512MB': CAP.hami,
      '': CAP.hami,
      '4.5g': CAP.hami,
    },
  },
  CUDA_DEVICE_MEMORY_LIMIT_0: { stay: ['1g'], become: { '5g': CAP.hami, '1Gi': CAP.hami } },
  PYTORCH_ALLOC_CONF: {
    stay: [
      `${KEY}:0.25`,
      `$(MORE),${KEY}:0.1`,
      `expandable_segments:True,${KEY}:0.1`,
      `${KEY} : 0.1`,
      `${KEY}:0.9,${KEY}:0.1`,
    ],
    become: {
      '': `${KEY}:0.25`,
      'expandable_segments:True': `expandable_segments:True,${KEY}:0.25`,
      [`${KEY}:0.9,expandable_segments:True`]: `expandable_segments:True,${KEY}:0.25`,
      [`${KEY}:0.1,${KEY}:0.9`]: `${KEY}:0.25`,
      [`${KEY}:0.1,${KEY} :0.9`]: `${KEY}:0.25`,
      [`${KEY}:much`]: `${KEY}:0.25`,
      [`${KEY}:0.1,$(MORE)`]: `$(MORE),${KEY}:0.25`,
      [`${KEY}:$(MORE)`]: `${KEY}:0.25`,
      'roundup_power2_divisions:[256:1,512:2,>:4],max_split_size_mb:64': `roundup_power2_divisions:[256:1,512:2,>:4],max_split_size_mb:64,${KEY}:0.25`,
    },
  },
  PYTORCH_CUDA_ALLOC_CONF: {
    stay: [`${KEY}:0.2`],
    become: { 'max_split_size_mb:64': `max_split_size_mb:64,${KEY}:0.25` },
  },
};
const cases = Object.entries(syntax).flatMap(([name, { stay, become }]) => [
  ...stay.map((value) => ({ name, value, want: undefined })),
  ...Object.entries(become).map(([value, want]) => ({ name, value, want })),
]);

/** What GPU141 makes of a variable; undefined if it stays. */
function replaced(name: string, entry: object, world = { policy, nodes }): string | undefined {
  const { changes } = judge(pod(withEnv([{ name, ...entry }])), world);
  const change = changes.find((made) => made.type === 'set-env' && made.name === name);
  return change?.type === 'set-env' && change.code === 'GPU141' ? change.value : undefined;
}

describe('values that stand in a pod', () => {
  it.each(cases.filter(({ want }) => want === undefined))('$name="$value" stays', ({ name, value }) => {
    expect(replaced(name, { value })).toBeUndefined();
  });

  it.each(cases.filter(({ want }) => want !== undefined))('$name="$value" becomes "$want"', ({ name, value, want }) => {
    expect(replaced(name, { value })).toBe(want);
  });

  it.each(Object.keys(syntax))('%s from elsewhere is replaced', (name) => {
    const own = name.startsWith('PYTORCH') ? `${KEY}:0.25` : undefined;
    const value = replaced(name, { valueFrom: { configMapKeyRef: { name: 'm', key: 'k' } } });
    expect(value).toBeDefined();
    if (own) expect(value).toBe(own);
  });

  it.each([
    ['0=4096M', undefined],
    ['0=4G', undefined],
    ['0=1G,1=9G', undefined],
    ['0=5G', CAP.mps],
    ['0=0', CAP.mps],
    ['1=1G', CAP.mps],
    ['4G', CAP.mps],
    ['0=1Gi', CAP.mps],
    ['0=1G,0=64G', CAP.mps],
    ['0=64G,0=1G', CAP.mps],
    ['', CAP.mps],
  ])('CUDA_MPS_PINNED_DEVICE_MEM_LIMIT="%s" becomes %s', (value, want) => {
    expect(replaced('CUDA_MPS_PINNED_DEVICE_MEM_LIMIT', { value }, { policy: mps, nodes: mpsNodes })).toBe(want);
  });

  it('a limit of MPS must name every device', () => {
    const judged = pod(withEnv({ CUDA_MPS_PINNED_DEVICE_MEM_LIMIT: '0=1G' }, { 'nvidia.com/gpu': 2 }));
    const { changes } = judge(judged, { policy: mps, nodes: mpsNodes });
    expect(changes).toContainEqual(expect.objectContaining({ code: 'GPU141', value: '0=4096M,1=4096M' }));
  });
});

const looser = (name: string, value: string, required = true) => [
  { type: 'set-env', container: 'train', name, value, required },
];

table('GPU141', {
  'the last of several entries counts': {
    pod: pod(
      withEnv([
        { name: 'FLAGS_gpu_memory_limit_mb', value: '9999' },
        { name: 'FLAGS_gpu_memory_limit_mb', value: '1024' },
      ]),
    ),
    policy,
    nodes,
    want: [],
  },
  'a looser last entry is replaced': {
    pod: pod(
      withEnv([
        { name: 'FLAGS_gpu_memory_limit_mb', value: '1024' },
        { name: 'FLAGS_gpu_memory_limit_mb', value: '9999' },
      ]),
    ),
    policy,
    nodes,
    want: looser('FLAGS_gpu_memory_limit_mb', '4096'),
  },
  'a request above a stricter limit comes down to it': {
    pod: pod(withEnv({ NVIDIA_GPU_MEMORY_LIMIT: '1024', NVIDIA_GPU_MEMORY_REQUEST: '2048' })),
    policy,
    nodes,
    want: looser('NVIDIA_GPU_MEMORY_REQUEST', '1024'),
  },
  'a request above a looser limit comes down with it': {
    pod: pod(withEnv({ NVIDIA_GPU_MEMORY_LIMIT: '8192', NVIDIA_GPU_MEMORY_REQUEST: '8192' })),
    policy,
    nodes,
    want: [...looser('NVIDIA_GPU_MEMORY_LIMIT', '4096'), ...looser('NVIDIA_GPU_MEMORY_REQUEST', '4096')],
  },
  'a limit of 0 grants no request': {
    pod: pod(withEnv({ NVIDIA_GPU_MEMORY_LIMIT: '0', NVIDIA_GPU_MEMORY_REQUEST: '8192' })),
    policy,
    nodes,
    want: [...looser('NVIDIA_GPU_MEMORY_LIMIT', '4096'), ...looser('NVIDIA_GPU_MEMORY_REQUEST', '4096')],
  },
  'the general variable of PyTorch hides the other one': {
    pod: pod(withEnv({ PYTORCH_CUDA_ALLOC_CONF: `${KEY}:0.9`, PYTORCH_ALLOC_CONF: `${KEY}:0.1` })),
    policy,
    nodes,
    want: [],
  },
  'both names of JAX are clamped': {
    pod: pod(withEnv({ XLA_PYTHON_CLIENT_MEM_FRACTION: '.9', XLA_CLIENT_MEM_FRACTION: '.8' })),
    policy,
    nodes,
    want: [...looser('XLA_PYTHON_CLIENT_MEM_FRACTION', '0.25'), ...looser('XLA_CLIENT_MEM_FRACTION', '0.25')],
  },
  'a soft variable is never required': {
    pod: pod(withEnv({ TF_FORCE_GPU_ALLOW_GROWTH: 'false' })),
    policy,
    nodes,
    want: looser('TF_FORCE_GPU_ALLOW_GROWTH', 'true', false),
  },
  'a value within the largest share is replaced and not required, since nodes move': {
    pod: pod(withEnv({ FLAGS_gpu_memory_limit_mb: '7000' })),
    policy: auto,
    nodes: [...nodes, sharedNode(81920, 10)],
    want: looser('FLAGS_gpu_memory_limit_mb', '3584', false),
  },
  'a value above the largest share is required to go': {
    pod: pod(withEnv({ FLAGS_gpu_memory_limit_mb: '7681' })),
    policy: auto,
    nodes: [...nodes, sharedNode(81920, 10)],
    want: looser('FLAGS_gpu_memory_limit_mb', '3584'),
  },
  'a percentage of CuPy cannot be compared while the GPU is not known': {
    pod: pod(withEnv({ CUPY_GPU_MEMORY_LIMIT: '10%' })),
    policy,
    nodes: [],
    want: looser('CUPY_GPU_MEMORY_LIMIT', CAP.bytes),
  },
  'a fraction stays where the cap has none': {
    pod: pod(withEnv({ XLA_PYTHON_CLIENT_MEM_FRACTION: '0.9' })),
    policy,
    nodes: [],
    want: [],
  },
  'variables of frameworks that the policy does not name are left': {
    pod: pod(withEnv({ PYTORCH_ALLOC_CONF: `${KEY}:0.9`, CUDA_MEMORY_FRACTION: '1.0' })),
    policy: governed({ sharing: 'time-slicing', memoryCap: { amount: '4Gi', frameworks: ['jax'] } }),
    nodes,
    want: [],
  },
  'a container without a GPU is left': {
    pod: pod(withEnv({ FLAGS_gpu_memory_limit_mb: '9999' }, {})),
    policy,
    nodes,
    want: [],
  },
  'a copy for debugging that keeps an old cap is clamped': {
    pod: pod(withEnv({ GPU_MEMORY_LIMIT_MIB: '9999' }, ONE_GPU)),
    policy,
    nodes,
    want: looser('GPU_MEMORY_LIMIT_MIB', '4096'),
  },
});

// A walk over all variables for each of them would take minutes here, and vitest gives up after seconds.
it('judges a container with tens of thousands of variables', () => {
  const limits = Array.from({ length: 20_000 }, (_, at) => ({ name: 'CUDA_DEVICE_MEMORY_LIMIT_0', value: `${at}g` }));
  const others = Array.from({ length: 30_000 }, () => ({ name: 'A', value: 'b' }));
  const { changes } = judge(pod(withEnv([...limits, ...others])), { policy });
  expect(changes.filter(({ code }) => code === 'GPU141')).toHaveLength(1);
});
