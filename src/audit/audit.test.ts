import { describe, expect, it } from 'vitest';
import type { Snapshot } from '../admission/snapshot.ts';
import { withTemplateKinds } from '../admission/template-kinds.ts';
import type { EffectivePolicy } from '../policy/policy.ts';
import { resolvePolicy } from '../policy/resolve.ts';
import { gpuPolicySchema } from '../policy/schema.ts';
import { countCodes, createCollection } from './collect.ts';
import { controllerOf, isJudged, judgeNamespace, judgePod, judgeWorkload } from './judge.ts';
import { nodeNotices } from './nodes.ts';

const GPU = 'nvidia.com/gpu';
const SLICE = 'nvidia.com/mig-1g.10gb';
const snapshot: Snapshot = { nodes: [], gpuResources: [] };

function policyOf(spec: object, labels: Record<string, string> = {}): EffectivePolicy {
  const document = { apiVersion: 'gpugate.dev/v1alpha1', kind: 'GpuPolicy', metadata: { name: 'p' }, spec };
  return resolvePolicy({ 'gpugate.dev/policy': 'p', ...labels }, new Map([['p', gpuPolicySchema.parse(document)]]));
}
const mig = { sharing: 'mig', mig: { profile: '1g.10gb' }, visibleDevices: 'deny' };

function pod(limits: object, more: object = {}): object {
  const resources = { limits, requests: limits };
  return { metadata: { name: 'p' }, spec: { containers: [{ name: 'c', image: 'x', resources, ...more }] } };
}

const told = (object: object, policy: EffectivePolicy) =>
  judgePod(object, policy, snapshot).map(({ code, level }) => `${code} ${level}`);

describe('a live pod', () => {
  it('that is as its policy wants it has nothing', () => {
    expect(told(pod({ [SLICE]: '1' }), policyOf(mig))).toEqual([]);
  });

  it('that is older than its policy lacks what that requires, in words for a pod that lives', () => {
    const [judgement] = judgePod(pod({ [GPU]: '1' }), policyOf(mig), snapshot);
    expect(judgement).toMatchObject({
      code: 'GPU180',
      level: 'error',
      message: `lacks what the policy requires (GPU110: ${GPU} 1 -> ${SLICE} 1): it is older, or came past the webhook.`,
    });
  });

  it('that would be refused lacks nothing beside that', () => {
    expect(told(pod({ [GPU]: '2' }), policyOf(mig))).toEqual(['GPU112 error']);
  });

  it('is warned of where the mode does not enforce', () => {
    const all = { env: [{ name: 'NVIDIA_VISIBLE_DEVICES', value: 'all' }] };
    expect(told(pod({}, all), policyOf(mig))).toEqual(['GPU151 error']);
    for (const mode of ['warn', 'audit']) {
      expect(told(pod({}, all), policyOf({ ...mig, mode }))).toEqual(['GPU151 warning']);
    }
  });

  it.each<[string, object, boolean]>([
    ['runs', { status: { phase: 'Running' } }, true],
    ['waits', { status: { phase: 'Pending' } }, true],
    ['has ended', { status: { phase: 'Succeeded' } }, false],
    ['has failed', { status: { phase: 'Failed' } }, false],
    ['is being deleted', { metadata: { deletionTimestamp: 'now' } }, false],
    ['is a static one', { metadata: { annotations: { 'kubernetes.io/config.mirror': 'x' } } }, false],
    ['is nothing that is known', { metadata: 1 }, true],
  ])('that %s', (_, object, judged) => expect(isJudged(object)).toBe(judged));
});

describe('a workload', () => {
  const kinds = withTemplateKinds();
  const judge = (key: string, object: object, policy: EffectivePolicy) =>
    judgeWorkload(object, kinds.get(key) as never, policy, snapshot).map(({ code, level, field }) => [
      code,
      level,
      field,
    ]);

  it('whose pods are changed when they are made has nothing', () => {
    expect(judge('apps/Deployment', { spec: { template: pod({ [GPU]: '1' }) } }, policyOf(mig))).toEqual([]);
  });

  it('whose pods would be refused is an error, at the place of its template', () => {
    const object = { spec: { pytorchReplicaSpecs: { Worker: { template: pod({ [GPU]: '0.5' }) } } } };
    expect(judge('kubeflow.org/PyTorchJob', object, policyOf(mig))).toContainEqual([
      'GPU002',
      'error',
      'spec.pytorchReplicaSpecs.Worker.template.spec.containers[0].resources.limits[nvidia.com/gpu]',
    ]);
  });
});

describe('a namespace', () => {
  it('without a policy has nothing', () => {
    expect(judgeNamespace(resolvePolicy({}, new Map()), snapshot)).toEqual([]);
  });

  it('whose label is not understood would have all of its GPU pods refused', () => {
    const policy = resolvePolicy({ 'gpugate.dev/sharing': 'both' }, new Map());
    expect(judgeNamespace(policy, snapshot)).toMatchObject([{ code: 'GPU101', level: 'error' }]);
  });

  it('whose quota counts the old name, and whose slices no node offers', () => {
    const limits = [{ kind: 'ResourceQuota' as const, name: 'q', resources: [`requests.${GPU}`] }];
    const nodes = [{ name: 'a', labels: {}, allocatable: { [GPU]: '8' } }];
    const codes = judgeNamespace(policyOf(mig), { ...snapshot, nodes, limits }).map(({ code, level }) => [code, level]);
    expect(codes).toEqual([
      ['GPU160', 'warning'],
      ['GPU161', 'warning'],
    ]);
  });
});

describe('what is put together', () => {
  const policy = policyOf(mig);
  const judgements = judgePod(pod({ [GPU]: '1' }), policy, snapshot);
  const owner = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'train', uid: 'u' };

  it('stands under the owner once, with a few names, however many pods there are', () => {
    const collection = createCollection();
    for (let index = 0; index < 1000; index += 1) collection.pod(`train-${index}`, owner, 'team-a', policy, judgements);
    const [object, ...others] = collection.objects();
    expect(others).toEqual([]);
    expect(object).toMatchObject({
      kind: 'Deployment',
      name: 'train',
      pods: 1000,
      outcome: 'pods-denied',
      policy: 'p',
    });
    expect(object?.findings).toMatchObject([
      { pods: 1000, examples: ['train-0', 'train-1', 'train-2', 'train-3', 'train-4'] },
    ]);
    expect(object?.findings[0]?.fix).toBe('Make its pods anew: kubectl rollout restart deployment/train -n team-a.');
    expect(countCodes(collection.objects())).toEqual([
      { code: 'GPU180', title: expect.any(String), errors: 1, warnings: 0, pods: 1000 },
    ]);
  });

  it('a template and its pods with one mistake are one finding', () => {
    const collection = createCollection();
    const mistake = { code: 'GPU151', level: 'error', container: 'c', message: 'm', fix: 'f' } as const;
    collection.object(owner, 'team-a', policy, [{ ...mistake, field: 'spec.template.spec.containers[0]' }]);
    collection.pod('train-1', owner, 'team-a', policy, [{ ...mistake, field: 'spec.containers[0]' }]);
    expect(collection.objects()).toMatchObject([
      { findings: [{ field: 'spec.template.spec.containers[0]', pods: 1 }] },
    ]);
  });

  it('errors come first, and nothing comes of nothing', () => {
    const collection = createCollection();
    const warning = { code: 'GPU161', level: 'warning', field: 'f', message: 'm', fix: 'f' } as const;
    collection.object({ apiVersion: 'v1', kind: 'Namespace', name: 'a' }, undefined, policy, [warning]);
    collection.pod('fine', undefined, 'team-a', policy, []);
    collection.pod('bad', undefined, 'team-a', policy, judgements);
    expect(collection.objects().map(({ kind, name, outcome }) => [kind, name, outcome])).toEqual([
      ['Pod', 'bad', 'denied'],
      ['Namespace', 'a', 'clean'],
    ]);
  });

  it('only a controller owns', () => {
    const reference = { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'r', uid: 'u' };
    expect(controllerOf({ metadata: { ownerReferences: [reference] } })).toBeUndefined();
    expect(controllerOf({ metadata: { ownerReferences: [{ ...reference, controller: true }] } })).toEqual(reference);
  });
});

describe('a node', () => {
  const node = (labels: Record<string, string>, capacity: Record<string, string>, allocatable = capacity) =>
    nodeNotices({ name: 'a', labels, capacity, allocatable, taints: [], unschedulable: false, conditions: [] }, []);

  it('that gives what it has is not spoken of', () => {
    expect(node({ 'nvidia.com/gpu.count': '8', 'nvidia.com/mig.config.state': 'success' }, { [GPU]: '8' })).toEqual([]);
    expect(node({}, {})).toEqual([]);
  });

  it.each<[string, Record<string, string>, Record<string, string>, Record<string, string>]>([
    [
      'node a: its MIG layout all-1g.10gb is failed',
      { 'nvidia.com/mig.config': 'all-1g.10gb', 'nvidia.com/mig.config.state': 'failed' },
      {},
      {},
    ],
    ['node a: 1 of 8 nvidia.com/gpu are unhealthy', {}, { [GPU]: '8' }, { [GPU]: '7' }],
    ['node a: has 8 GPUs by its labels, and its device plugin offers none', { 'nvidia.com/gpu.count': '8' }, {}, {}],
    [
      'node a: its slices are not alike, which the MIG strategy single needs, so it offers none',
      { 'nvidia.com/gpu.product': 'A100-MIG-INVALID' },
      {},
      {},
    ],
  ])('%s', (text, labels, capacity, allocatable) => expect(node(labels, capacity, allocatable)).toEqual([text]));
});
