import { describe, expect, it } from 'vitest';
import { CAP_SWITCHES, CAP_VARIABLES, capVariables, type Measure, USELESS_VARIABLES } from './cap-variables.ts';
import catalogue from './data/memory-cap-variables.json' with { type: 'json' };

/** Names of gpugate's own for the application to read: no program of others knows them, so no source speaks of them. */
const OWN_NAMES = ['GPU_MEMORY_LIMIT_MIB', 'GPU_MEMORY_FRACTION'];

/** How the catalogue calls each measure, and a word of the syntax that it gives. */
const MEASURES: Readonly<Record<Measure, readonly [valueKind: string, syntax: RegExp]>> = {
  mib: ['MiB', /integer/],
  bytes: ['bytes', /integer bytes without suffix, or '<float>%'/],
  suffixed: ['bytes', /ONE optional suffix letter/],
  devices: ['bytes', /<device ordinal>=<size><G\|M>/],
  fraction: ['fraction', /^float/],
  allocator: ['fraction', /^per_process_memory_fraction:/],
  flag: ['flag', /exactly 'true'/],
};
const entry = (name: string) => catalogue.find(({ env }) => env === name);
const sourced = CAP_VARIABLES.filter(({ name }) => !OWN_NAMES.includes(name)).flatMap(
  ({ name, insteadOf = [], ...rest }) => [name, ...insteadOf].map((each) => ({ ...rest, name: each })),
);

describe('the variables and the catalogue of sources agree', () => {
  it.each(sourced)('$name', ({ name, measure, strength }) => {
    const source = entry(name);
    const [valueKind, syntax] = MEASURES[measure];
    expect(source).toMatchObject({ valueKind, hard: strength === 'hard', verified: true });
    expect(source?.syntax).toMatch(syntax);
  });

  it.each(OWN_NAMES)('%s is of gpugate itself', (name) => {
    expect(entry(name)).toBeUndefined();
    expect(CAP_VARIABLES.find((variable) => variable.name === name)).toMatchObject({
      set: 'neutral',
      strength: 'soft',
    });
  });

  it('what has no effect is no cap in the catalogue', () => {
    // The one of vLLM is told in the notes of vLLM, which reads no variable.
    const notes = catalogue
      .filter(({ hard }) => !hard)
      .map(({ env, notes }) => `${env} ${notes}`)
      .join('\n');
    for (const name of Object.keys(USELESS_VARIABLES)) expect(notes).toContain(name);
  });

  it('what switches a cap off is told in the notes, but for the switch of HAMi-core', () => {
    const told = catalogue.map(({ env, notes }) => `${env} ${notes}`).join('\n');
    const names = CAP_SWITCHES.map(({ name }) => name).filter((name) => !told.includes(name));
    expect(names).toEqual(['CUDA_DISABLE_CONTROL']);
  });

  it('no name stands twice', () => {
    const names = CAP_VARIABLES.flatMap(({ name, insteadOf = [] }) => [name, ...insteadOf]);
    expect(new Set(names).size).toBe(names.length);
  });
});

describe('the variables of a policy', () => {
  const names = (...args: Parameters<typeof capVariables>) => capVariables(...args).map(({ name }) => name);

  it('the own names are always set', () => expect(names([], false)).toEqual(OWN_NAMES));
  it('a framework adds its own', () => expect(names(['cupy'], false)).toEqual([...OWN_NAMES, 'CUPY_GPU_MEMORY_LIMIT']));
  it('the driver gets limit and request together', () => {
    expect(names(['nvidia'], false)).toEqual([...OWN_NAMES, 'NVIDIA_GPU_MEMORY_LIMIT', 'NVIDIA_GPU_MEMORY_REQUEST']);
  });
  it('the one of MPS comes with MPS', () => {
    expect(names([], true)).toEqual([...OWN_NAMES, 'CUDA_MPS_PINNED_DEVICE_MEM_LIMIT']);
  });
});
