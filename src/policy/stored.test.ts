import { describe, expect, it } from 'vitest';
import { resolvePolicy } from './resolve.ts';
import { isBroken, readStored } from './stored.ts';

const stored = (spec: unknown) =>
  readStored({
    apiVersion: 'gpugate.dev/v1alpha1',
    kind: 'GpuPolicy',
    metadata: { name: 'p', uid: 'x' },
    spec,
    status: {},
  } as never);
const resolved = (spec: unknown, labels: Record<string, string> = {}) =>
  resolvePolicy({ 'gpugate.dev/policy': 'p', ...labels }, new Map([['p', stored(spec)]]));

describe('a GpuPolicy of the cluster', () => {
  it('is one like any other, whatever stands beside its spec', () => {
    expect(isBroken(stored({}))).toBe(false);
    expect(resolved({ mode: 'warn' })).toMatchObject({ name: 'p', mode: 'warn', problems: [] });
  });

  it.each<[string, unknown, string, string]>([
    ['a profile that no board has', { sharing: 'mig', mig: { profile: '1g.11gb' } }, 'GPU113', 'spec.mig.profile'],
    [
      'a profile of a list',
      { sharing: 'mig', mig: { profile: '1g.10gb', allowedProfiles: ['x'] } },
      'GPU101',
      'spec.mig.allowedProfiles[0]',
    ],
    ['a field of a newer version', { future: true }, 'GPU101', 'spec.future'],
    ['no spec', undefined, 'GPU101', 'spec'],
    ['a spec that is null', null, 'GPU101', 'spec'],
  ])('that is not understood, for %s, is a problem of its namespaces', (_, spec, code, field) => {
    expect(resolved(spec).problems).toEqual([
      expect.objectContaining({ code, where: `policy "p" ${field}`, fix: 'Correct it: kubectl edit gpupolicy p.' }),
    ]);
  });

  it('that is not understood gives nothing but its mode, where that is', () => {
    expect(resolved({ mode: 'audit', future: true, visibleDevices: 'deny' })).toMatchObject({
      name: 'p',
      mode: 'audit',
      visibleDevices: 'ignore',
    });
    expect(resolved({ mode: 'strict' })).toMatchObject({ mode: 'enforce' });
    expect(resolved({ future: true }, { 'gpugate.dev/mode': 'warn' })).toMatchObject({ mode: 'warn' });
  });

  it('called default that is not understood concerns the namespaces without a label', () => {
    const broken = readStored({ metadata: { name: 'default' } });
    expect(resolvePolicy({}, new Map([['default', broken]]))).toMatchObject({ governed: true, name: 'default' });
    expect(resolvePolicy({}, new Map([['default', broken]])).problems.length).toBeGreaterThan(0);
  });
});
