import { describe, expect, it } from 'vitest';
import { NO_POLICY } from './policy.ts';
import { resolvePolicy } from './resolve.ts';
import { gpuPolicySchema } from './schema.ts';

function policies(specs: Readonly<Record<string, object>>) {
  const apiVersion = 'gpugate.dev/v1alpha1';
  return new Map(
    Object.entries(specs).map(([name, spec]) => [
      name,
      gpuPolicySchema.parse({ apiVersion, kind: 'GpuPolicy', metadata: { name }, spec }),
    ]),
  );
}
const labels = (values: Readonly<Record<string, string>>) =>
  Object.fromEntries(Object.entries(values).map(([name, value]) => [`gpugate.dev/${name}`, value]));
const resolve = (values: Readonly<Record<string, string>>, specs: Readonly<Record<string, object>> = {}) =>
  resolvePolicy(labels(values), policies(specs));

describe('which policy', () => {
  it('none without labels and policies', () => {
    expect(resolve({})).toEqual(NO_POLICY);
  });

  it('none with an unknown label alone, which is told', () => {
    expect(resolve({ shring: 'mig' })).toMatchObject({ governed: false, warnings: [{ code: 'GPU101' }] });
  });

  it('none where only policies of other names exist', () => {
    expect(resolve({}, { notebooks: {} })).toEqual(NO_POLICY);
  });

  it('the one called default serves a namespace without labels', () => {
    expect(resolve({}, { default: { mode: 'audit' } })).toMatchObject({
      name: 'default',
      governed: true,
      mode: 'audit',
    });
  });

  it('the one that the label names', () => {
    const specs = { default: { mode: 'audit' }, notebooks: { mode: 'warn' } };
    expect(resolve({ policy: 'notebooks' }, specs)).toMatchObject({ name: 'notebooks', mode: 'warn', problems: [] });
  });

  it('an unknown one is a problem, and the one called default does not stand in for it', () => {
    const policy = resolve({ policy: 'notbooks' }, { default: { mode: 'audit' }, notebooks: {} });
    expect(policy).toMatchObject({
      governed: true,
      mode: 'enforce',
      problems: [{ code: 'GPU101', value: 'notbooks' }],
    });
    expect(policy.name).toBeUndefined();
  });

  it('labels alone govern, on built-in defaults', () => {
    expect(resolve({ 'max-gpus': '2' })).toMatchObject({
      governed: true,
      mode: 'enforce',
      maxGpus: { perPod: 2 },
      visibleDevices: 'ignore',
      templates: 'warn',
    });
  });

  it('a broken label governs too', () => {
    expect(resolve({ mode: 'strict' })).toMatchObject({
      governed: true,
      mode: 'enforce',
      problems: [{ value: 'strict' }],
    });
  });
});

describe('a label beats the field of the policy', () => {
  const specs = {
    notebooks: {
      mode: 'enforce',
      sharing: 'time-slicing',
      timeSlicing: { resource: 'nvidia.com/gpu.shared', multiple: 'deny' },
      memoryCap: { amount: 'auto', max: '16Gi', reserve: '1Gi', fallback: '4Gi', frameworks: ['jax'] },
      maxGpus: { perContainer: 1, perPod: 2 },
      visibleDevices: 'warn',
    },
  };
  const notebooks = (values: Readonly<Record<string, string>>) => resolve({ policy: 'notebooks', ...values }, specs);

  it('mode', () => expect(notebooks({ mode: 'audit' }).mode).toBe('audit'));
  it('max-gpus, of the pod', () =>
    expect(notebooks({ 'max-gpus': '8' }).maxGpus).toEqual({ perContainer: 1, perPod: 8 }));
  it('visible-devices', () => expect(notebooks({ 'visible-devices': 'deny' }).visibleDevices).toBe('deny'));
  it('memory-cap, and the rest of the block stays', () => {
    expect(notebooks({ 'memory-cap': '8Gi' }).memoryCap).toEqual({
      amount: { kind: 'mib', mib: 8192, text: '8Gi' },
      maxMiB: 16384,
      reserveMiB: 1024,
      fallbackMiB: 4096,
      frameworks: ['jax'],
    });
  });
  it('sharing, and the block of another sharing is not read', () => {
    expect(notebooks({ sharing: 'mps' }).shared).toEqual({ resource: 'nvidia.com/gpu', multiple: 'deny' });
    expect(notebooks({ sharing: 'exclusive' })).not.toHaveProperty('memoryCap');
    expect(notebooks({ sharing: 'mig', 'mig-profile': '1g.10gb' })).not.toHaveProperty('memoryCap');
  });
  it('the policy holds where no label stands', () => {
    expect(notebooks({})).toMatchObject({
      mode: 'enforce',
      shared: { resource: 'nvidia.com/gpu.shared', multiple: 'deny' },
      maxGpus: { perContainer: 1, perPod: 2 },
      visibleDevices: 'warn',
    });
  });
});

describe('MIG', () => {
  it('a profile label alone means MIG, with that profile alone', () => {
    expect(resolve({ 'mig-profile': '1g.10gb' })).toMatchObject({
      sharing: 'mig',
      mig: { profile: '1g.10gb', allowedProfiles: ['1g.10gb'], multiple: 'deny' },
    });
  });

  it('a profile label over a policy keeps the list of the policy', () => {
    const spec = {
      sharing: 'mig',
      mig: { profile: '1g.10gb', allowedProfiles: ['1g.10gb', '2g.20gb'], multiple: 'warn' },
    };
    expect(resolve({ policy: 'latency', 'mig-profile': '3g.40gb' }, { latency: spec }).mig).toMatchObject({
      profile: '3g.40gb',
      allowedProfiles: ['3g.40gb', '1g.10gb', '2g.20gb'],
      multiple: 'warn',
    });
  });

  it('MIG without a profile is a problem', () => {
    expect(resolve({ sharing: 'mig' })).toMatchObject({ problems: [{ code: 'GPU101', value: 'mig' }] });
  });

  it('a broken profile is one problem, not two', () => {
    expect(resolve({ sharing: 'mig', 'mig-profile': 'small' }).problems).toHaveLength(1);
  });
});

describe('defaults', () => {
  it.each([
    ['time-slicing', 'warn'],
    ['mps', 'deny'],
  ])('several units under %s: %s', (sharing, multiple) => {
    expect(resolve({ sharing }).shared).toEqual({ resource: 'nvidia.com/gpu', multiple });
  });

  it('a memory cap keeps half a gibibyte free and names the safe frameworks', () => {
    expect(resolve({ sharing: 'time-slicing', 'memory-cap': 'auto' }).memoryCap).toEqual({
      amount: { kind: 'auto' },
      reserveMiB: 512,
      frameworks: ['nvidia', 'jax', 'tensorflow', 'cupy', 'paddle'],
    });
  });

  it('void in a policy is told where the namespace has no label, since most pods do not come', () => {
    const specs = { notebooks: { visibleDevices: 'void' } };
    expect(resolve({ policy: 'notebooks' }, specs)).toMatchObject({
      everyPodComes: false,
      warnings: [{ value: 'void' }],
    });
    expect(resolve({ policy: 'notebooks', 'visible-devices': 'void' }, specs)).toMatchObject({
      everyPodComes: true,
      warnings: [],
    });
  });
});
