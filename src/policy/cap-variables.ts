import type { Framework } from './policy.ts';

/**
 * The variables that cap GPU memory, with the syntax that each program reads to the letter. Sources, scope and traps of
 * every name are in data/memory-cap-variables.json; a test holds the two together.
 */
export interface CapVariable {
  readonly name: string;
  readonly set: VariableSet;
  readonly measure: Measure;
  /** `hard` bounds the process (or more), `soft` only asks it to be modest. */
  readonly strength: 'hard' | 'soft';
  /** A user's variable that serves the same purpose: it is judged, and this one is not added beside it. */
  readonly insteadOf?: readonly string[];
}

/** A framework that a policy names, `neutral` for the application's own use, `mps` wherever MPS shares the GPU. */
export type VariableSet = Framework | 'neutral' | 'mps';

/**
 * `mib`: decimal MiB. `bytes`: decimal bytes, or `<float>%` of the total. `fraction`: of the total.
 * `allocator`: a key of PyTorch's comma list. `suffixed`: digits and one letter. `devices`: `0=4096M,1=4096M`.
 * `flag`: the word true.
 */
export type Measure = 'mib' | 'bytes' | 'fraction' | 'allocator' | 'suffixed' | 'devices' | 'flag';

export const CAP_VARIABLES: readonly CapVariable[] = [
  { name: 'GPU_MEMORY_LIMIT_MIB', set: 'neutral', measure: 'mib', strength: 'soft' },
  { name: 'GPU_MEMORY_FRACTION', set: 'neutral', measure: 'fraction', strength: 'soft' },
  { name: 'NVIDIA_GPU_MEMORY_LIMIT', set: 'nvidia', measure: 'mib', strength: 'hard' },
  // Nothing is enforced, and a request above the limit stops the container, so the two go together (toolkit PR #2075).
  { name: 'NVIDIA_GPU_MEMORY_REQUEST', set: 'nvidia', measure: 'mib', strength: 'soft' },
  // The old name works on every jaxlib; with both names set JAX raises ValueError.
  {
    name: 'XLA_PYTHON_CLIENT_MEM_FRACTION',
    set: 'jax',
    measure: 'fraction',
    strength: 'hard',
    insteadOf: ['XLA_CLIENT_MEM_FRACTION'],
  },
  { name: 'TF_FORCE_GPU_ALLOW_GROWTH', set: 'tensorflow', measure: 'flag', strength: 'soft' },
  { name: 'CUPY_GPU_MEMORY_LIMIT', set: 'cupy', measure: 'bytes', strength: 'hard' },
  { name: 'FLAGS_gpu_memory_limit_mb', set: 'paddle', measure: 'mib', strength: 'hard' },
  // The general name hides the CUDA one, so it is the one to write; a user's string is merged where the user put it.
  {
    name: 'PYTORCH_ALLOC_CONF',
    set: 'pytorch',
    measure: 'allocator',
    strength: 'hard',
    insteadOf: ['PYTORCH_CUDA_ALLOC_CONF'],
  },
  { name: 'CUDA_DEVICE_MEMORY_LIMIT', set: 'hami-core', measure: 'suffixed', strength: 'hard' },
  { name: 'CUDA_MEMORY_FRACTION', set: 'tgi', measure: 'fraction', strength: 'hard' },
  { name: 'CUDA_MPS_PINNED_DEVICE_MEM_LIMIT', set: 'mps', measure: 'devices', strength: 'hard' },
];

/** Variables that switch a cap off, and the values that leave it on. */
export const CAP_SWITCHES: readonly {
  readonly name: string;
  readonly set?: VariableSet;
  readonly harmless: RegExp;
  readonly why: string;
}[] = [
  { name: 'CUDA_DISABLE_CONTROL', harmless: /^(false|0|)$/i, why: 'it takes HAMi-core out of the container' },
  {
    name: 'XLA_PYTHON_CLIENT_ALLOCATOR',
    set: 'jax',
    // xla_client.py compares in lower case; the fraction bounds the pool of the default and the bfc allocator.
    harmless: /^(default|bfc|)$/i,
    why: 'the fraction bounds only the default and the bfc allocator',
  },
  {
    name: 'TF_FORCE_UNIFIED_MEMORY',
    set: 'jax',
    harmless: /^(false|0|)$/i,
    why: 'unified memory lifts the bound of JAX',
  },
  {
    name: 'TF_GPU_ALLOCATOR',
    set: 'jax',
    harmless: /^(?!cuda_malloc_async$|.*\$\()/,
    why: 'XLA reads it too, and then uses a pool that grows',
  },
];

/** Variables that people set for a cap and that no current release of the program reads. */
export const USELESS_VARIABLES: Readonly<Record<string, string>> = {
  VLLM_GPU_MEMORY_UTILIZATION: 'vLLM does not read it; pass --gpu-memory-utilization',
  OLLAMA_MAX_VRAM: 'current releases of Ollama do not read it',
};

/** The variables that a policy with these frameworks sets under this kind of sharing. */
export function capVariables(frameworks: readonly Framework[], mps: boolean): readonly CapVariable[] {
  return CAP_VARIABLES.filter(({ set }) => set === 'neutral' || (set === 'mps' ? mps : frameworks.includes(set)));
}
