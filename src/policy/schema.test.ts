import { describe, expect, it } from 'vitest';
import { gpuPolicySchema } from './schema.ts';

const document = (spec: unknown, metadata: unknown = { name: 'notebooks' }) => ({
  apiVersion: 'gpugate.dev/v1alpha1',
  kind: 'GpuPolicy',
  metadata,
  spec,
});
/** The paths of the mistakes in a document. */
function mistakes(value: unknown): readonly string[] {
  const { success, error } = gpuPolicySchema.safeParse(value);
  return success ? [] : error.issues.map(({ path }) => path.join('.'));
}
const slicing = (rest: object) => ({ sharing: 'time-slicing', ...rest });
const capped = (memoryCap: object) => slicing({ memoryCap: { amount: 'auto', ...memoryCap } });

describe('documents that are policies', () => {
  it.each<[string, object]>([
    ['an empty spec', {}],
    ['every mode', { mode: 'audit' }],
    ['MIG', { sharing: 'mig', mig: { profile: '1g.10gb', allowedProfiles: ['1g.10gb', '2g.20gb'], multiple: 'warn' } }],
    ['a profile in any spelling', { sharing: 'mig', mig: { profile: 'mig-1g.10gb+me' } }],
    ['time-slicing', slicing({ timeSlicing: { resource: 'nvidia.com/gpu.shared', multiple: 'deny' } })],
    ['shared slices', slicing({ timeSlicing: { resource: 'nvidia.com/mig-1g.10gb.me.shared' } })],
    [
      'a cap with every field',
      capped({ max: '16Gi', reserve: '512Mi', fallback: '4Gi', frameworks: ['jax', 'hami-core'] }),
    ],
    ['a percentage', capped({ amount: '12.5%' })],
    ['a quantity in bytes as a number', capped({ amount: 4294967296 })],
    ['a cap of zero', capped({ amount: 0 })],
    ['no reserve', capped({ reserve: 0 })],
    ['no framework', capped({ frameworks: [] })],
    ['no GPUs at all', { maxGpus: { perContainer: 0, perPod: 0 } }],
  ])('%s', (_, spec) => {
    expect(mistakes(document(spec))).toEqual([]);
  });

  it('gets its defaults', () => {
    expect(gpuPolicySchema.parse(document({})).spec).toMatchObject({
      mode: 'enforce',
      visibleDevices: 'ignore',
      templates: 'warn',
      otherSchedulers: [],
      maxGpus: {},
    });
  });

  it('takes profiles to the spelling of resources, and memory to MiB', () => {
    const mig = gpuPolicySchema.parse(document({ sharing: 'mig', mig: { profile: 'mig-1g.10gb+me' } }));
    expect(mig.spec.mig?.profile).toBe('1g.10gb.me');
    const cap = gpuPolicySchema.parse(document(capped({ max: '16Gi', reserve: '1G' }))).spec.memoryCap;
    expect(cap).toMatchObject({ max: 16384, reserve: 953 });
  });
});

describe('mistakes name their field', () => {
  it.each<[string, object, readonly string[]]>([
    ['an unknown field', { shring: 'mig' }, ['spec']],
    ['an unknown field of a block', slicing({ timeSlicing: { multi: 'deny' } }), ['spec.timeSlicing']],
    ['an unknown mode', { mode: 'strict' }, ['spec.mode']],
    ['an unknown sharing', { sharing: 'vgpu' }, ['spec.sharing']],
    ['MIG without its block', { sharing: 'mig' }, ['spec.mig']],
    ['a block of another sharing', { sharing: 'mps', timeSlicing: {} }, ['spec.timeSlicing']],
    ['a block without a sharing', { mig: { profile: '1g.10gb' } }, ['spec.mig']],
    ['a profile that is none', { sharing: 'mig', mig: { profile: 'small' } }, ['spec.mig.profile']],
    ['a profile that no board has', { sharing: 'mig', mig: { profile: '1g.11gb' } }, ['spec.mig.profile']],
    [
      'a profile of the list that no board has',
      { sharing: 'mig', mig: { profile: '1g.10gb', allowedProfiles: ['1g.10gb', '1g.11gb'] } },
      ['spec.mig.allowedProfiles.1'],
    ],
    [
      'an empty list of profiles',
      { sharing: 'mig', mig: { profile: '1g.10gb', allowedProfiles: [] } },
      ['spec.mig.allowedProfiles'],
    ],
    [
      'a resource that is no share',
      slicing({ timeSlicing: { resource: 'amd.com/gpu' } }),
      ['spec.timeSlicing.resource'],
    ],
    [
      'a share of a slice that no board has',
      slicing({ timeSlicing: { resource: 'nvidia.com/mig-1g.11gb.shared' } }),
      ['spec.timeSlicing.resource'],
    ],
    [
      'shared slices under MPS, which the plugin refuses',
      { sharing: 'mps', mps: { resource: 'nvidia.com/mig-1g.10gb.shared' } },
      ['spec.mps.resource'],
    ],
    ['a cap without sharing', { memoryCap: { amount: 'auto' } }, ['spec.memoryCap']],
    ['a cap of exclusive GPUs', { sharing: 'exclusive', memoryCap: { amount: 'auto' } }, ['spec.memoryCap']],
    ['an amount that is none', capped({ amount: '8GB' }), ['spec.memoryCap.amount']],
    ['an amount too small', capped({ amount: '255Mi' }), ['spec.memoryCap.amount']],
    ['a percentage above a hundred', capped({ amount: '101%' }), ['spec.memoryCap.amount']],
    ['an amount above the maximum', capped({ amount: '8Gi', max: '4Gi' }), ['spec.memoryCap.amount']],
    ['a fallback above the maximum', capped({ fallback: '8Gi', max: '4Gi' }), ['spec.memoryCap.fallback']],
    ['a fallback of zero, which would mean no limit', capped({ fallback: 0 }), ['spec.memoryCap.fallback']],
    ['a maximum too small for any program', capped({ max: '100Mi' }), ['spec.memoryCap.max']],
    ['a reserve in bytes by mistake', capped({ reserve: 512 }), ['spec.memoryCap.reserve']],
    ['a negative reserve', capped({ reserve: '-1Gi' }), ['spec.memoryCap.reserve']],
    ['an unknown framework', capped({ frameworks: ['torch'] }), ['spec.memoryCap.frameworks.0']],
    ['a fraction of a GPU', { maxGpus: { perPod: 0.5 } }, ['spec.maxGpus.perPod']],
    ['a negative maximum', { maxGpus: { perContainer: -1 } }, ['spec.maxGpus.perContainer']],
    ['a scheduler without a name', { otherSchedulers: [''] }, ['spec.otherSchedulers.0']],
    ['several mistakes at once', { mode: 'strict', visibleDevices: 'all' }, ['spec.mode', 'spec.visibleDevices']],
  ])('%s', (_, spec, paths) => {
    expect(mistakes(document(spec))).toEqual(paths);
  });

  it.each<[string, unknown, readonly string[]]>([
    ['another version', { ...document({}), apiVersion: 'gpugate.dev/v1' }, ['apiVersion']],
    ['another kind', { ...document({}), kind: 'GpuPolicies' }, ['kind']],
    ['no name', document({}, {}), ['metadata.name']],
    ['a name that no label can hold', document({}, { name: 'Notebooks' }), ['metadata.name']],
    ['a name too long for a label', document({}, { name: 'a'.repeat(64) }), ['metadata.name']],
    ['no spec', { ...document({}), spec: undefined }, ['spec']],
    ['a list', [], ['']],
  ])('%s', (_, value, paths) => {
    expect(mistakes(value)).toEqual(paths);
  });
});
