import { describe, expect, it } from 'vitest';
import { resolvePolicy } from './resolve.ts';
import { gpuPolicySchema, LOCKABLE } from './schema.ts';

const resolve = (spec: object, labels: Record<string, string>) => {
  const policy = gpuPolicySchema.parse({
    apiVersion: 'gpugate.dev/v1alpha1',
    kind: 'GpuPolicy',
    metadata: { name: 'p' },
    spec,
  });
  const named = Object.fromEntries(Object.entries(labels).map(([name, value]) => [`gpugate.dev/${name}`, value]));
  return resolvePolicy({ 'gpugate.dev/policy': 'p', ...named }, new Map([['p', policy]]));
};
const warnedOf = (effective: ReturnType<typeof resolve>) =>
  effective.warnings.map(({ where }) => where.replace('namespace label gpugate.dev/', ''));

const MIG = { sharing: 'mig', mig: { profile: '1g.10gb' } };
const SLICED = { sharing: 'time-slicing', memoryCap: { amount: '4Gi' } };

describe('a label that touches a locked field is ignored, with a warning', () => {
  it.each<[(typeof LOCKABLE)[number], object, Record<string, string>, object]>([
    ['mode', { mode: 'enforce' }, { mode: 'audit' }, { mode: 'enforce' }],
    ['sharing', MIG, { sharing: 'exclusive' }, { sharing: 'mig' }],
    ['migProfile', MIG, { 'mig-profile': '2g.20gb' }, { mig: { profile: '1g.10gb', allowedProfiles: ['1g.10gb'] } }],
    ['memoryCap', SLICED, { 'memory-cap': '8Gi' }, { memoryCap: { amount: { kind: 'mib', mib: 4096 } } }],
    ['maxGpus', { maxGpus: { perPod: 1 } }, { 'max-gpus': '8' }, { maxGpus: { perPod: 1 } }],
    ['visibleDevices', { visibleDevices: 'deny' }, { 'visible-devices': 'ignore' }, { visibleDevices: 'deny' }],
  ])('%s', (field, spec, labels, effective) => {
    const free = resolve(spec, labels);
    const locked = resolve({ ...spec, locked: [field] }, labels);
    expect(free).not.toMatchObject(effective);
    expect(locked).toMatchObject(effective);
    expect(locked.problems).toEqual([]);
    expect(warnedOf(locked)).toEqual(Object.keys(labels));
  });

  it('has a case for every field', () => expect(LOCKABLE).toHaveLength(6));
});

describe('locked fields', () => {
  it('leave the other labels alone', () => {
    expect(resolve({ locked: ['maxGpus'] }, { mode: 'warn' })).toMatchObject({ mode: 'warn', warnings: [] });
  });

  it('do not warn of a label that says the same', () => {
    expect(
      resolve({ ...MIG, locked: ['migProfile', 'mode'] }, { 'mig-profile': 'mig-1g.10gb', mode: 'enforce' }).warnings,
    ).toEqual([]);
  });

  it('let the label void stand beside a locked void, since it makes the API server send every pod', () => {
    const spec = { visibleDevices: 'void', locked: ['visibleDevices'] };
    expect(resolve(spec, { 'visible-devices': 'void' })).toMatchObject({ everyPodComes: true, warnings: [] });
  });

  it('take the sting out of a value that is not understood', () => {
    const locked = resolve({ locked: ['sharing'] }, { sharing: 'vgpu' });
    expect(locked).toMatchObject({ problems: [] });
    expect(warnedOf(locked)).toEqual(['sharing']);
  });

  it('keep a profile from implying MIG', () => {
    expect(resolve({ locked: ['sharing'] }, { 'mig-profile': '1g.10gb' }).sharing).toBeUndefined();
  });

  it('do not keep a namespace from naming another policy', () => {
    const named = resolvePolicy({ 'gpugate.dev/policy': 'other' }, new Map());
    expect(named.problems).toHaveLength(1);
  });
});
