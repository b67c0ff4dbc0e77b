import jsonpatch from 'fast-json-patch';
import { describe, expect, it } from 'vitest';
import { reapply } from './reapply.ts';

const GPU = 'nvidia.com/gpu';
const SLICE = 'nvidia.com/mig-1g.10gb';
const annotations = { 'gpugate.dev/policy': 'latency', 'gpugate.dev/original': '{"train":{"nvidia.com/gpu":"1"}}' };
const resources = (limits: object, requests: object = limits) => ({ resources: { limits, requests } });
const pod = (container: object, spec: object = {}, metadata: object = { annotations }) => ({
  metadata: { name: 'train', ...metadata },
  spec: { containers: [{ name: 'train', image: 'x', ...container }], ...spec },
});
const running = pod(resources({ cpu: '1', [SLICE]: '1' }));
const env = (...entries: object[]) => ({ env: entries });
const CAP = { name: 'GPU_MEMORY_LIMIT_MIB', value: '4096' };
const OWN = { name: 'DATA', value: '/data' };
const toleration = { key: GPU, operator: 'Exists', effect: 'NoSchedule' };
const notReady = {
  key: 'node.kubernetes.io/not-ready',
  operator: 'Exists',
  effect: 'NoExecute',
  tolerationSeconds: 300,
};
const affinity = (...matchExpressions: object[]) => ({
  nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [{ matchExpressions }] } },
});
const zone = { key: 'zone', operator: 'In', values: ['a'] };
const shared = { key: 'nvidia.com/gpu.sharing-strategy', operator: 'In', values: ['time-slicing'] };
const gated = { schedulingGates: [{ name: 'quota' }] };

const mended = (update: object, before: object) =>
  jsonpatch.applyPatch(structuredClone(update), reapply(update, before, []) as unknown as jsonpatch.Operation[], true)
    .newDocument;

describe('a manifest applied again becomes the running pod', () => {
  it.each<[string, object, object]>([
    [
      'after a rename, client-side: the old name stands beside the new one',
      pod(resources({ cpu: '1', [GPU]: '1', [SLICE]: '1' })),
      running,
    ],
    ['after a rename, server-side: the old name stands alone', pod(resources({ cpu: '1', [GPU]: 1 })), running],
    ['after a rename, in another spelling', pod(resources({ cpu: '1', [GPU]: '1000m' })), running],
    [
      'after a rename, without requests',
      pod({ resources: { limits: { cpu: '1', [GPU]: '1' }, requests: { cpu: '1' } } }),
      running,
    ],
    ['after a cap was added', pod(env(OWN)), pod(env(OWN, CAP))],
    ['after a cap was added to a container without variables', pod({}), pod(env(CAP))],
    ['after a looser cap was replaced', pod(env({ ...CAP, value: '9999' }, OWN)), pod(env(CAP, OWN))],
    [
      'after a toleration was added',
      pod({}, { tolerations: [notReady] }),
      pod({}, { tolerations: [notReady, toleration] }),
    ],
    ['after affinity was added', pod({}), pod({}, { affinity: affinity(shared) })],
    [
      'after affinity was added to affinity',
      pod({}, { affinity: affinity(zone) }),
      pod({}, { affinity: affinity(zone, shared) }),
    ],
    ['when it drops the annotations of gpugate', pod(resources({ cpu: '1', [GPU]: '1' }), {}, {}), running],
    [
      'when it changes an annotation of gpugate',
      pod(resources({ cpu: '1', [SLICE]: '1' }), {}, { annotations: { ...annotations, 'gpugate.dev/policy': 'none' } }),
      running,
    ],
  ])('%s', (_, update, before) => {
    expect(mended(update, before)).toEqual(before);
  });

  it('other fields of the update stay', () => {
    const update = pod(
      { ...resources({ cpu: '1', [GPU]: '1' }), image: 'y' },
      {},
      { annotations: { ...annotations, mine: '1' } },
    );
    expect(mended(update, running)).toEqual(
      pod({ ...resources({ cpu: '1', [SLICE]: '1' }), image: 'y' }, {}, { annotations: { ...annotations, mine: '1' } }),
    );
  });
});

describe('an update that asks for something else is left to the API server', () => {
  it.each<[string, object, object]>([
    ['another count', pod(resources({ cpu: '1', [GPU]: '2' })), running],
    [
      'another slice beside the old name',
      pod(resources({ cpu: '1', [GPU]: '1', 'nvidia.com/mig-2g.20gb': '1' })),
      running,
    ],
    ['another container', pod({ ...resources({ [GPU]: '1' }), name: 'other' }), running],
    ['a variable of the user changed', pod(env({ ...OWN, value: '/other' })), pod(env(OWN, CAP))],
    [
      'a cap that the running pod lacks',
      pod(env(OWN, { name: 'FLAGS_gpu_memory_limit_mb', value: '1' })),
      pod(env(OWN, CAP)),
    ],
    [
      'a toleration that the running pod lacks',
      pod({}, { tolerations: [{ ...toleration, key: 'x' }] }),
      pod({}, { tolerations: [toleration] }),
    ],
    [
      'affinity that the running pod lacks',
      pod({}, { affinity: affinity({ ...zone, values: ['b'] }) }),
      pod({}, { affinity: affinity(zone, shared) }),
    ],
    [
      'affinity of a gated pod, which may still change',
      pod({}, { affinity: affinity(zone), ...gated }),
      pod({}, { affinity: affinity(zone, shared), ...gated }),
    ],
    ['the same as before', running, running],
    [
      'a pod that gpugate never changed',
      pod(resources({ [GPU]: '1' }), {}, {}),
      pod(resources({ [SLICE]: '1' }), {}, {}),
    ],
  ])('%s', (_, update, before) => {
    expect(reapply(update, before, [])).toEqual([]);
  });
});

it.each([undefined, null, 1, [], {}, { spec: null }, { spec: { containers: [null] } }])(
  'an update like %j is left',
  (update) => {
    const patch = reapply(update, running, []);
    expect(patch.filter(({ path }) => !path.startsWith('/metadata'))).toEqual([]);
  },
);
