import { describe, expect, it } from 'vitest';
import { takeCensus } from './census.ts';
import type { PolicySet } from './resolve.ts';
import { readStored } from './stored.ts';

const policy = (name: string, spec: unknown) =>
  [
    name,
    readStored({ apiVersion: 'gpugate.dev/v1alpha1', kind: 'GpuPolicy', metadata: { name }, spec } as never),
  ] as const;
const named = (name: string, more: Record<string, string> = {}) => ({ 'gpugate.dev/policy': name, ...more });

const policies: PolicySet = new Map([
  policy('a', {}),
  policy('broken', { mode: 'strict', sharing: 'mig' }),
  policy('default', {}),
  policy('locked', { locked: ['mode'] }),
  policy('unused', {}),
]);
const namespaces = new Map<string, Record<string, string>>([
  ['two', named('a', { 'gpugate.dev/mode': 'strict' })],
  ['one', named('a', { 'gpugate.dev/unknown': 'x' })],
  ['plain', {}],
  ['kube-system', {}],
  ['lost', named('gone')],
  ['bad', named('broken')],
  ['held', named('locked', { 'gpugate.dev/mode': 'audit' })],
]);

describe('the census', () => {
  const census = takeCensus(policies, namespaces, ['kube-system']);

  it('knows the namespaces of each policy', () => {
    expect(Object.fromEntries(census.served)).toEqual({
      a: ['one', 'two'],
      broken: ['bad'],
      default: ['plain'],
      locked: ['held'],
      unused: [],
    });
  });

  it('knows which policies are named and not there', () => {
    expect(Object.fromEntries(census.missing)).toEqual({ gone: ['lost'] });
  });

  it('tells the problem of a policy, else of a label, errors before warnings', () => {
    expect(Object.fromEntries(census.problems)).toEqual({
      a: 'namespace two: namespace label gpugate.dev/mode is "strict", which is not one of enforce, warn, audit',
      broken: expect.stringMatching(/^spec\.mode is .*/),
      locked:
        'namespace held: namespace label gpugate.dev/mode is "audit", which is ignored, since policy "locked" locks mode',
    });
  });

  it('is the same in any order', () => {
    const turned = takeCensus(new Map([...policies].reverse()), new Map([...namespaces].reverse()), ['kube-system']);
    const plain = (of: typeof census) => [of.served, of.missing, of.problems].map((map) => Object.fromEntries(map));
    expect(plain(turned)).toEqual(plain(census));
  });
});
