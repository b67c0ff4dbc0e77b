import { describe, expect, it } from 'vitest';
import { takeCensus } from '../policy/census.ts';
import { readStored } from '../policy/stored.ts';
import { judgeSettings } from './judge-settings.ts';

const document = (name: string, spec: unknown) => ({
  apiVersion: 'gpugate.dev/v1alpha1',
  kind: 'GpuPolicy',
  metadata: { name, uid: 'x', managedFields: [] },
  spec,
});
const policies = new Map([
  ['notebooks', readStored(document('notebooks', { locked: ['mode'] }))],
  ['default', readStored(document('default', {}))],
]);
const named = { 'gpugate.dev/policy': 'notebooks' };
const namespaces = (count: number) =>
  new Map(Array.from({ length: count }, (_, index) => [`team-${index}`, named] as const));

const ask = (
  kind: string,
  operation: string,
  object: unknown,
  { name = 'notebooks', of = new Map<string, Record<string, string>>(), fromFiles = false } = {},
) =>
  judgeSettings(
    {
      uid: 'u',
      kind: { group: kind === 'GpuPolicy' ? 'gpugate.dev' : '', version: 'v1', kind },
      name,
      operation,
      object,
      dryRun: false,
    } as never,
    { policies: { current: () => policies, fromFiles }, census: () => takeCensus(policies, of) },
  );
const labelled = (labels: Record<string, string>) =>
  ask('Namespace', 'UPDATE', { metadata: { name: 'team-a', labels } })?.answer.warnings;

describe('a GpuPolicy that is written', () => {
  it.each(['CREATE', 'UPDATE'])('and understood is taken: %s', (operation) => {
    expect(
      ask('GpuPolicy', operation, { ...document('notebooks', {}), status: { namespaces: 1 } })?.answer,
    ).toMatchObject({
      allowed: true,
      warnings: [],
    });
  });

  it('is refused with every mistake, its field, and the nearest real profile with its boards', () => {
    const { answer, findings } =
      ask('GpuPolicy', 'CREATE', document('p', { sharing: 'mig', mig: { profile: '1g.11gb' } }), { name: 'p' }) ?? {};
    expect(answer).toMatchObject({ allowed: false, code: 403, reason: 'Forbidden' });
    expect(answer?.message).toMatch(
      /^gpugate: 1 problem with GpuPolicy "p"\n - GPU113 spec\.mig\.profile is "1g\.11gb", which is on no known board; nearest: 1g\.10gb \(A100.*\), 1g\.12gb \(.*\)$/,
    );
    expect(answer?.causes).toEqual([expect.objectContaining({ reason: 'GPU113', field: 'spec.mig.profile' })]);
    expect(findings).toEqual([
      expect.objectContaining({ code: 'GPU113', severity: 'error', field: 'spec.mig.profile' }),
    ]);
  });

  it('is refused where two fields do not go together', () => {
    const { answer } = ask('GpuPolicy', 'CREATE', document('p', { sharing: 'mps', mig: { profile: '1g.10gb' } })) ?? {};
    expect(answer?.message).toContain(
      ' - GPU101 spec.mig is only read with sharing: mig; sharing is mps. Set spec.sharing: mig, or leave out spec.mig.',
    );
  });

  it('is refused with all at once: fields that are wrong by themselves, and those that do not go together', () => {
    const spec = {
      sharing: 'mps',
      mig: { profile: 'small' },
      memoryCap: 'x',
      tolerations: [null, { operator: 'Exists', value: 'a' }],
    };
    const { answer } = ask('GpuPolicy', 'CREATE', document('p', spec)) ?? {};
    expect(answer?.causes?.map(({ field }) => field)).toEqual([
      'spec.mig.profile',
      'spec.memoryCap',
      'spec.tolerations[0]',
      'spec.tolerations[1].key',
      'spec.tolerations[1].value',
      'spec.mig',
    ]);
  });

  it('is warned of where policies come from files', () => {
    expect(ask('GpuPolicy', 'CREATE', document('p', {}), { fromFiles: true })?.answer.warnings).toEqual([
      'gpugate reads its policies from files (--policies), so this GpuPolicy is not used',
    ]);
  });
});

describe('a GpuPolicy that is deleted', () => {
  const deleted = (name: string, of: ReadonlyMap<string, Record<string, string>>) => {
    const answer = ask('GpuPolicy', 'DELETE', undefined, { name, of: new Map(of) })?.answer;
    expect(answer?.allowed).toBe(true);
    return answer?.warnings;
  };

  it('and in use is warned of with the namespaces', () => {
    expect(deleted('notebooks', namespaces(1))).toEqual([
      'GPU101 GpuPolicy "notebooks" serves 1 namespace (team-0): their GPU pods are refused until they name another policy.',
    ]);
    expect(deleted('notebooks', namespaces(7))?.[0]).toContain(
      '7 namespaces (team-0, team-1, team-2, team-3, team-4, ...)',
    );
  });

  it('and called default says what becomes of namespaces without a label', () => {
    expect(deleted('default', new Map([['plain', {}]]))?.[0]).toContain('no policy from now on');
  });

  it('and not in use goes without a word', () => expect(deleted('notebooks', new Map())).toEqual([]));
});

describe('labels of a Namespace are judged with the policy that they name', () => {
  it('an unknown policy', () => {
    expect(labelled({ 'gpugate.dev/policy': 'notebook' })).toEqual([
      'GPU101 namespace label gpugate.dev/policy is "notebook", which names no GpuPolicy that is known. Known are default, notebooks.',
    ]);
  });

  it('a locked field', () => {
    expect(labelled({ ...named, 'gpugate.dev/mode': 'audit' })).toEqual([
      'GPU101 namespace label gpugate.dev/mode is "audit", which is ignored, since policy "notebooks" locks mode. Remove the label.',
    ]);
  });

  it('nothing wrong', () => expect(labelled(named)).toEqual([]));
});

it('anything else is no setting', () => {
  expect(ask('Pod', 'CREATE', {})).toBeUndefined();
  expect(ask('Namespace', 'DELETE', undefined)?.answer.allowed).toBe(true);
});
