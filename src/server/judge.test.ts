import { describe, expect, it } from 'vitest';
import type { ClusterSource } from '../cluster/source.ts';
import type { PolicySet } from '../policy/resolve.ts';
import { readStored } from '../policy/stored.ts';
import { createJudge, type JudgeOptions } from './judge.ts';

const labels = { 'gpugate.dev/policy': 'p' };
const cluster: ClusterSource = {
  known: () => labels,
  namespaceLabels: async () => ({ found: true, labels }),
  namespaces: () => new Map([['team-a', labels]]),
  nodes: () => [],
  synced: () => true,
  watches: () => [],
  close: async () => undefined,
};
const policy = (profile: string) =>
  readStored({
    apiVersion: 'gpugate.dev/v1alpha1',
    kind: 'GpuPolicy',
    metadata: { name: 'p' },
    spec: { sharing: 'mig', mig: { profile } },
  } as never);

/** Policies whose one refresh brings `next`. */
function source(first: PolicySet, next: PolicySet = first, synced = true) {
  let set = first;
  const asked: string[] = [];
  const policies: JudgeOptions['policies'] = {
    current: () => set,
    synced: () => synced,
    refresh: async (name) => {
      asked.push(name);
      set = next;
    },
  };
  return { policies, asked };
}

const review = (resource: string) => ({
  uid: 'u',
  kind: { group: '', version: 'v1', kind: 'Pod' },
  name: 'p',
  namespace: 'team-a',
  operation: 'CREATE',
  subResource: undefined,
  dryRun: false,
  object: {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'p', namespace: 'team-a' },
    spec: {
      containers: [
        { name: 'c', image: 'x', resources: { limits: { [resource]: '1' }, requests: { [resource]: '1' } } },
      ],
    },
  },
});
const GPU = 'nvidia.com/gpu';
const SLICE = 'nvidia.com/mig-2g.20gb';

describe('while the policies have not been read', () => {
  const judge = createJudge({ cluster, policies: source(new Map(), new Map(), false).policies });

  it('the mutating webhook lets by, with a warning', async () => {
    const { answer } = await judge('mutate', review(GPU));
    expect(answer).toMatchObject({ allowed: true, warnings: [expect.stringContaining('none was applied')] });
  });

  it('the validating webhook asks to try again', async () => {
    const { answer } = await judge('validate', review(GPU));
    expect(answer).toMatchObject({ allowed: false, code: 503, message: expect.stringContaining('GpuPolicies') });
  });
});

describe('a policy that may have changed a moment ago is read once more', () => {
  it('where nobody knows it', async () => {
    const { policies, asked } = source(new Map(), new Map([['p', policy('2g.20gb')]]));
    const { answer } = await createJudge({ cluster, policies })('mutate', review(GPU));
    expect(answer.allowed).toBe(true);
    expect(asked).toEqual(['p']);
  });

  it('where it does not exist, GPU pods are refused', async () => {
    const { answer } = await createJudge({ cluster, policies: source(new Map()).policies })('mutate', review(GPU));
    expect(answer.message).toContain('names no GpuPolicy that is known');
  });

  it('before a final pod is refused for a missing change', async () => {
    const changed = source(new Map([['p', policy('1g.10gb')]]), new Map());
    const refused = await createJudge({ cluster, policies: changed.policies })('validate', review(GPU));
    expect(changed.asked).toEqual(['p']);
    expect(refused.answer.message).toContain('GPU101');
  });

  it('and not where nothing is amiss', async () => {
    const { policies, asked } = source(new Map([['p', policy('2g.20gb')]]));
    const { answer } = await createJudge({ cluster, policies })('validate', review(SLICE));
    expect([answer.allowed, asked]).toEqual([true, []]);
  });
});
