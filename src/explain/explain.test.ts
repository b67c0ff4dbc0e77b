import { describe, expect, it } from 'vitest';
import type { NodeState } from '../cluster/node-state.ts';
import { headline } from '../report/explanation.ts';
import { explain, reasonsOf } from './explain.ts';
import type { ExplainInput, Holder } from './input.ts';
import type { State } from './result.ts';
import { anInput } from './testing.ts';

const GPU = 'nvidia.com/gpu';
const SLICE = 'nvidia.com/mig-1g.10gb';

interface Case {
  readonly input: Partial<ExplainInput>;
  readonly state?: State;
  /** Codes in the order of the layers. */
  readonly codes: readonly string[];
  readonly text?: string;
  /** Layers with a question mark. */
  readonly unknown?: readonly string[];
}

const cases: Readonly<Record<string, Case>> = {
  'a pod that runs has no reason, whatever its nodes are like now': {
    input: {
      pod: pod({ nodeName: 'a' }, { phase: 'Running' }),
      nodes: [node('a', { [GPU]: '0' }, { unschedulable: true })],
    },
    state: 'running',
    codes: [],
  },
  'a pod on its node that makes its containers': {
    input: {
      pod: pod({ nodeName: 'a' }, { phase: 'Pending', ...waitingFor('ContainerCreating') }),
      nodes: [node('a')],
    },
    state: 'starting',
    codes: [],
  },
  'an image that can not be pulled is no GPU problem': {
    input: {
      pod: pod({ nodeName: 'a' }, { phase: 'Pending', ...waitingFor('ImagePullBackOff', 'Back-off') }),
      nodes: [node('a')],
    },
    state: 'starting',
    codes: ['image'],
    text: 'container "c" waits: ImagePullBackOff: Back-off',
  },
  'a container that the NVIDIA hook stops': {
    input: {
      pod: pod(
        { nodeName: 'a' },
        { phase: 'Pending', ...waitingFor('RunContainerError', 'nvidia-container-cli: driver error') },
      ),
      nodes: [node('a')],
    },
    codes: ['container-start'],
  },
  'a runtime that the node lacks': {
    input: {
      pod: pod({ nodeName: 'a', runtimeClassName: 'nvidia' }, { phase: 'Pending' }),
      nodes: [node('a')],
      runtimeClasses: new Set(['nvidia']),
      events: [event('FailedCreatePodSandBox', 'no runtime for "nvidia" is configured')],
    },
    codes: ['runtime-class'],
  },
  'a pod that the device plugin refused': {
    input: {
      pod: pod(
        {},
        { phase: 'Failed', reason: 'UnexpectedAdmissionError', message: 'Allocate failed due to rpc error' },
      ),
      nodes: [node('a')],
    },
    state: 'failed',
    codes: ['refused-by-plugin'],
  },
  'a pod that its node had no cpu for any more': {
    input: { pod: pod({}, { phase: 'Failed', reason: 'OutOfcpu', message: 'Node did not have enough resource: cpu' }) },
    codes: ['other-resource'],
  },
  'a pod that its node had no GPU for any more': {
    input: { pod: pod({}, { phase: 'Failed', reason: 'OutOfnvidia.com/gpu', message: '' }) },
    codes: ['refused-by-plugin'],
  },
  'a pod that failed by itself': {
    input: { pod: pod({}, { phase: 'Failed', reason: 'Error' }) },
    state: 'failed',
    codes: [],
  },
  'a pod that is being deleted': {
    input: { pod: { ...pod(), metadata: { deletionTimestamp: 'now' } }, nodes: [node('a', { [GPU]: '0' })] },
    state: 'ending',
    codes: [],
  },
  'it fits as the nodes are now': {
    input: {
      pod: pod({}, unschedulable('0/1 nodes are available: 1 Insufficient nvidia.com/gpu.')),
      nodes: [node('a')],
    },
    state: 'waiting',
    codes: [],
  },
  'every unit is held': {
    input: { nodes: [node('a', { [GPU]: '2' })], holders: [holder('x', 'a', 1n), holder('y', 'a', 1n)] },
    codes: ['taken'],
    text: 'all 2 units of nvidia.com/gpu on a are taken by team-a/x (1), team-a/y (1)',
  },
  'a unit that is held hides no volume that is missing': {
    input: {
      pod: pod(
        {},
        unschedulable('0/1 nodes are available: pod has unbound immediate PersistentVolumeClaims. not found'),
      ),
      nodes: [node('a')],
      holders: [holder('x', 'a', 1n)],
    },
    codes: ['taken', 'volume'],
  },
  'a unit that is held hides no claim that can not be allocated': {
    input: {
      pod: pod({}, unschedulable('0/1 nodes are available: 1 cannot allocate all claims.')),
      nodes: [node('a')],
      holders: [holder('x', 'a', 1n)],
    },
    codes: ['taken', 'claim'],
  },
  'a selector that no node meets hides no volume that is missing': {
    input: {
      pod: pod(
        { nodeSelector: { zone: 'x' } },
        unschedulable('0/1 nodes are available: persistentvolumeclaim "none" not found.'),
      ),
      nodes: [node('a')],
    },
    codes: ['node-selector', 'volume'],
  },
  'the one unit is held': {
    input: { nodes: [node('a')], holders: [holder('x', 'a', 1n)] },
    codes: ['taken'],
    text: 'the one unit of nvidia.com/gpu on a is taken by team-a/x (1)',
  },
  'pods of other namespaces may not be listed: the scheduler is believed': {
    input: {
      pod: pod({}, unschedulable('0/1 nodes are available: 1 Insufficient nvidia.com/gpu.')),
      nodes: [node('a')],
      holdersOfNamespaceOnly: true,
    },
    codes: ['taken'],
    text: 'the scheduler says of 1 node: Insufficient nvidia.com/gpu',
  },
  'nodes may not be listed: what the scheduler says is all': {
    input: {
      pod: pod(
        {},
        unschedulable(
          '0/3 nodes are available: 3 node(s) had untolerated taint(s). preemption: 0/3 nodes are available: 3 Preemption is not helpful for scheduling.',
        ),
      ),
      nodes: undefined,
      holders: undefined,
    },
    codes: ['taint'],
    text: 'the scheduler says of 3 nodes: node(s) had untolerated taint(s)',
    unknown: ['node labels', 'device plugin', 'driver and hardware'],
  },
  'nodes may not be listed: those that the pod does not want are no reason beside others': {
    input: {
      pod: pod(
        {},
        unschedulable(
          "0/3 nodes are available: 1 Insufficient nvidia.com/gpu, 2 node(s) didn't match Pod's node affinity/selector.",
        ),
      ),
      nodes: undefined,
    },
    codes: ['taken'],
  },
  'nodes may not be listed, and the pod wants none of them': {
    input: {
      pod: pod({}, unschedulable("0/3 nodes are available: 3 node(s) didn't match Pod's node affinity/selector.")),
      nodes: undefined,
    },
    codes: ['node-selector'],
  },
  'of several nodes each has its own reason, the nearest to fitting first': {
    input: {
      nodes: [node('tainted', {}, { taints: [taint('dedicated')], unschedulable: true }), node('full')],
      holders: [holder('x', 'full', 1n)],
    },
    codes: ['taken', 'cordoned', 'taint'],
  },
  'a taint that is tolerated is none, and one that only prefers neither': {
    input: {
      pod: pod({ tolerations: [{ key: 'dedicated', operator: 'Exists' }] }, unschedulable('')),
      nodes: [node('a', {}, { taints: [taint('dedicated'), taint('soft', 'PreferNoSchedule')] })],
    },
    codes: [],
  },
  'a cordon that is tolerated is none': {
    input: {
      pod: pod({ tolerations: [{ operator: 'Exists' }] }, unschedulable('')),
      nodes: [node('a', {}, { unschedulable: true })],
    },
    codes: [],
  },
  'a node that is not ready': {
    input: {
      nodes: [
        node(
          'a',
          {},
          {
            taints: [taint('node.kubernetes.io/not-ready')],
            conditions: [{ type: 'Ready', status: 'False', reason: 'KubeletNotReady', message: 'runtime is down' }],
          },
        ),
      ],
    },
    codes: ['node-not-ready'],
    text: 'node a is not ready: runtime is down',
  },
  'a layout of another profile brings nothing': {
    input: {
      pod: pod({}, unschedulable(''), { [SLICE]: '1' }),
      nodes: [node('a', { [GPU]: '0' }, { labels: layout('all-2g.20gb', 'pending') })],
    },
    codes: ['no-node-offers'],
  },
  'a layout of one name for all profiles may bring it': {
    input: {
      pod: pod({}, unschedulable(''), { [SLICE]: '1' }),
      nodes: [node('a', { [GPU]: '0' }, { labels: layout('all-balanced', 'rebooting') })],
    },
    codes: ['mig-layout'],
  },
  'a layout that failed': {
    input: {
      pod: pod({}, unschedulable(''), { [SLICE]: '1' }),
      nodes: [node('a', { [GPU]: '0' }, { labels: layout('all-1g.10gb', 'failed') })],
    },
    codes: ['mig-layout'],
    text: 'the MIG layout all-1g.10gb of node a has failed (nvidia.com/mig.config.state), so the node lacks its slices',
  },
  'a layout under way where others have slices is no reason': {
    input: {
      pod: pod({}, unschedulable(''), { [SLICE]: '1' }),
      nodes: [node('a', { [SLICE]: '1' }), node('b', {}, { labels: layout('all-1g.10gb', 'pending') })],
      holders: [{ ...holder('x', 'a', 1n), units: new Map([[SLICE, 1n]]) }],
    },
    codes: ['taken'],
  },
  'a name that a DeviceClass serves is not looked for on nodes': {
    input: {
      pod: pod({}, unschedulable('0/1 nodes are available: 1 cannot allocate all claims.')),
      nodes: [node('a', { [GPU]: '0' })],
      deviceClassResources: new Set([GPU]),
    },
    codes: ['claim'],
    unknown: ['device plugin', 'driver and hardware'],
  },
  'an empty cluster': { input: { nodes: [] }, codes: ['no-node-offers'], text: 'the cluster has no node' },
  'a pod on no list of nodes but of selector alone': {
    input: {
      pod: pod({ nodeSelector: { zone: 'x', rack: 'y' } }, unschedulable('')),
      nodes: [node('a', {}, { labels: { zone: 'x' } }), node('b', {}, { labels: { rack: 'y' } })],
    },
    codes: ['node-selector'],
    text: 'each of zone=x, rack=y is met by some node, but no node meets all of them',
  },
  'gates hide the rest': {
    input: {
      pod: pod({ schedulingGates: [{ name: 'example.com/gate' }] }, { phase: 'Pending' }),
      nodes: [node('a', { [GPU]: '0' })],
    },
    state: 'gated',
    codes: ['gated'],
  },
  'zero GPUs ask for none': {
    input: {
      pod: pod({}, unschedulable('0/1 nodes are available: 1 Too many pods.'), { [GPU]: '0' }),
      nodes: [node('a', {})],
    },
    codes: ['other-resource'],
  },
  'the quota is named, with who holds it': {
    input: {
      exists: false,
      holders: [holder('x', 'a', 2n)],
      events: [
        event(
          'FailedCreate',
          'Error creating: pods "y" is forbidden: exceeded quota: gpus, requested: requests.nvidia.com/gpu=1, used: requests.nvidia.com/gpu=2, limited: requests.nvidia.com/gpu=2',
        ),
      ],
    },
    state: 'refused',
    codes: ['quota'],
    text: 'the quota gpus is used up: requested: requests.nvidia.com/gpu=1, used: requests.nvidia.com/gpu=2, limited: requests.nvidia.com/gpu=2; held by x (2)',
  },
  'a quota of something else is no GPU problem': {
    input: {
      exists: false,
      events: [
        event(
          'FailedCreate',
          'Error creating: pods "y" is forbidden: exceeded quota: q, requested: requests.cpu=1, used: requests.cpu=2, limited: requests.cpu=2',
        ),
      ],
    },
    codes: ['other-quota'],
  },
  'the last refusal counts': {
    input: {
      exists: false,
      events: [
        event('FailedCreate', 'Error creating: pods "y" is forbidden: violates PodSecurity "restricted:latest"'),
        event(
          'FailedCreate',
          'Error creating: Internal error occurred: failed calling webhook "gpu-pods.validate.gpugate.dev": refused',
        ),
      ],
    },
    codes: ['gpugate-unreachable'],
  },
  'without an event a refusal is what gpugate would say': {
    input: { exists: false, pod: pod({}, {}, { [GPU]: '500m' }), events: [] },
    codes: ['refused-by-gpugate'],
  },
  'a pod by another scheduler that has looked': {
    input: {
      pod: pod({ schedulerName: 'volcano' }, unschedulable('0/1 nodes are available: 1 Insufficient cpu.')),
      nodes: [node('a')],
    },
    codes: ['other-resource'],
  },
};

describe('explain', () => {
  it.each(Object.entries(cases))('%s', (_, { input, state, codes, text, unknown }) => {
    const explanation = explain(inputOf(input));
    expect(reasonsOf(explanation).map(({ code }) => code)).toEqual(codes);
    if (state) expect(explanation.state).toBe(state);
    if (text) expect(reasonsOf(explanation)[0]?.text).toBe(text);
    for (const { next } of reasonsOf(explanation)) expect(next).toMatch(/^(kubectl|gpugate) /);
    if (!unknown) return;
    expect(explanation.layers.filter(({ mark }) => mark === 'unknown').map(({ name }) => name)).toEqual(unknown);
  });

  it('takes arbitrary JSON for a pod', () => {
    for (const odd of [
      null,
      1,
      [],
      { spec: 1, status: [] },
      { spec: { nodeSelector: [], affinity: 1, containers: {} } },
    ]) {
      expect(() => explain(inputOf({ pod: odd, nodes: [node('a')] }))).not.toThrow();
    }
  });
});

describe('the marks of layers', () => {
  const layerOf = (input: Partial<ExplainInput>, name: string) => {
    const { mark, seen } = explain(inputOf(input)).layers.find((layer) => layer.name === name) ?? {};
    return [mark, ...(seen ?? [])];
  };
  const cpu = node('cpu', { cpu: '8' });

  it('a driver is not missed where no node was looked at', () => {
    const none = 'no node that it may go to has its GPUs, so no driver was looked at';
    expect(layerOf({ nodes: [cpu] }, 'driver and hardware')).toEqual(['unknown', none]);
    expect(layerOf({ nodes: [node('a')] }, 'driver and hardware')).toEqual([
      'unknown',
      'no driver label on the nodes: feature discovery is not there, or not yet',
    ]);
  });

  it('a resource that nobody advertises has no tick', () => {
    const not = 'no node that it may go to advertises nvidia.com/gpu';
    const nowhere = { pod: pod({ nodeSelector: { pool: 'x' } }, unschedulable('')), nodes: [node('a')] };
    expect(layerOf(nowhere, 'device plugin')).toEqual(['unknown', not]);
    const elsewhere = { nodeSelector: { pool: 'cpu' } };
    const nodes = [{ ...cpu, labels: { pool: 'cpu' } }, node('a')];
    expect(layerOf({ pod: pod(elsewhere, unschedulable('')), nodes }, 'device plugin')).toEqual(['problem', not]);
    expect(layerOf({ pod: pod(elsewhere), exists: false, nodes }, 'device plugin')).toEqual(['problem', not]);
  });

  it('a selector that no node meets has no tick, in whatever state', () => {
    const nowhere = { nodeSelector: { pool: 'x' } };
    for (const state of [
      { exists: false },
      { exists: false, idle: 'has no node' },
      { pod: pod({ ...nowhere, schedulingGates: [{ name: 'g/g' }] }) },
    ]) {
      expect(layerOf({ pod: pod(nowhere), nodes: [cpu], ...state }, 'node labels')).toEqual([
        'problem',
        'selector and affinity let it go to 0 of 1 node',
      ]);
    }
  });

  it('of a pod on its node, that node is spoken of', () => {
    const down = node(
      'a',
      {},
      { conditions: [{ type: 'Ready', status: 'Unknown', reason: 'r', message: 'gone quiet' }] },
    );
    const on = (name: string, phase: string) => ({ pod: pod({ nodeName: name }, { phase, ...SCHEDULED }) });
    expect(layerOf({ ...on('a', 'Running'), nodes: [node('a')] }, 'node labels')).toEqual(['ok', 'is on node a']);
    expect(layerOf({ ...on('a', 'Succeeded'), nodes: [node('a')] }, 'node labels')).toEqual(['ok', 'was on node a']);
    expect(layerOf({ ...on('a', 'Succeeded'), nodes: [node('a')] }, 'scheduler')).toEqual(['ok', 'the pod was on a']);
    expect(layerOf({ ...on('a', 'Running'), nodes: [down] }, 'node labels')).toEqual([
      'unknown',
      'is on node a, which is not ready: gone quiet',
    ]);
    expect(layerOf({ ...on('b', 'Pending'), nodes: [node('a')] }, 'node labels')).toEqual([
      'problem',
      'there is no node b',
    ]);
    expect(layerOf({ ...on('b', 'Succeeded'), nodes: [node('a')] }, 'node labels')).toEqual(['ok', 'was on node b']);
    expect(layerOf({ ...on('cpu', 'Running'), nodes: [cpu] }, 'device plugin')).toEqual([
      'unknown',
      'node cpu does not advertise nvidia.com/gpu',
    ]);
    expect(layerOf({ ...on('cpu', 'Running'), nodes: [cpu] }, 'driver and hardware')).toEqual([
      'unknown',
      'node cpu has none of its GPUs, so no driver was looked at',
    ]);
  });

  it('what claims bring is not seen, and is not denied', () => {
    const claims = { pod: pod({ resourceClaims: [{ name: 'x', resourceClaimName: 'there' }] }, unschedulable(''), {}) };
    expect(layerOf(claims, 'pod spec')).toEqual(['ok', 'asks for no GPU by name; its resource claims may bring one']);
    const unseen = ['unknown', 'what a resource claim brings can not be seen on nodes'];
    expect(layerOf(claims, 'driver and hardware')).toEqual(unseen);
    const served = { pod: pod({}, unschedulable('')), nodes: [cpu], deviceClassResources: new Set([GPU]) };
    expect(layerOf(served, 'driver and hardware')).toEqual(unseen);
  });

  it('a scheduler that does not look has no tick', () => {
    const gated = pod({ schedulingGates: [{ name: 'g/g' }] });
    expect(layerOf({ pod: gated, nodes: [node('a')] }, 'scheduler')).toEqual([
      'unknown',
      'has not looked at the pod: it is gated',
    ]);
  });

  it('what init containers take is told apart', () => {
    const big = { name: 'i', resources: { limits: { [GPU]: '4' } } };
    expect(layerOf({ pod: pod({ initContainers: [big] }) }, 'pod spec')).toEqual([
      'ok',
      'asks for 4 nvidia.com/gpu (while its init containers run, 1 after them)',
    ]);
  });

  it('gpugate judges no pod of a namespace that is left out', () => {
    const given = { exists: false, excluded: true, pod: pod({}, {}, { [GPU]: '500m' }), nodes: [node('a')] };
    expect(reasonsOf(explain(inputOf(given)))).toEqual([]);
    expect(layerOf(given, 'admission')).toEqual([
      'unknown',
      'the webhooks leave namespace team-a out: gpugate judges none of its pods',
      'no event says why there is no pod',
    ]);
  });
});

describe('the first line', () => {
  const first = (input: Partial<ExplainInput>) =>
    headline(explain(inputOf({ nodes: [node('a')], ...input }))).replace(/^pod\/p in namespace team-a:? /, '');
  const full = '0/1 nodes are available: 1 Insufficient nvidia.com/gpu.';
  const down = {
    conditions: [
      {
        type: 'Ready',
        status: 'Unknown',
        reason: 'NodeStatusUnknown',
        message: 'Kubelet stopped posting node status.',
      },
    ],
  };

  it.each<[string, Partial<ExplainInput>, string]>([
    [
      'GPUs that have come free',
      { pod: pod({}, unschedulable(full)) },
      'is Pending. As the nodes are now its GPUs fit; the scheduler tries again by itself.',
    ],
    ['a scheduler that has said nothing', { pod: pod() }, 'is Pending: the scheduler has not looked at it yet.'],
    [
      'nodes that may not be listed, and a scheduler that gives no reason',
      { pod: pod({}, unschedulable('')), nodes: undefined },
      'is Pending, and nothing that you may read says why.',
    ],
    [
      'a claim that is not there',
      { pod: pod({ resourceClaims: [{ name: 'x', resourceClaimName: 'nope' }] }), claims: new Set(['other']) },
      'is Pending, for 1 reason.',
    ],
    [
      'a claim that is there',
      {
        pod: pod({ resourceClaims: [{ name: 'x', resourceClaimName: 'there' }] }, unschedulable(full)),
        claims: new Set(['there']),
      },
      'is Pending. Whether its resource claims can be allocated the scheduler alone knows.',
    ],
    [
      'claims that may not be listed',
      { pod: pod({ resourceClaims: [{ name: 'x', resourceClaimName: 'nope' }] }), claims: undefined },
      'is Pending: the scheduler has not looked at it yet.',
    ],
    [
      'a claim of a template that is not made',
      {
        pod: pod({ resourceClaims: [{ name: 'x', resourceClaimTemplateName: 't' }] }),
        claims: new Set(),
        events: [event('FailedResourceClaimCreation', 'PodResourceClaim x: resource claim template "t": not found')],
      },
      'is Pending, for 1 reason.',
    ],
    [
      'two kinds of GPUs that no node has together',
      {
        pod: pod({}, unschedulable(''), { [GPU]: '1', [SLICE]: '1' }),
        nodes: [node('a'), node('b', { [SLICE]: '2' })],
      },
      'is Pending, for 1 reason.',
    ],
    [
      'a node that is named and is not there',
      { pod: pod({ nodeName: 'gone' }) },
      'names node gone itself, past the scheduler: 1 reason stands against it. It is not a GPU problem.',
    ],
    [
      'a node that is named and has no GPU',
      { pod: pod({ nodeName: 'cpu' }), nodes: [node('cpu', { cpu: '1' })] },
      'names node cpu itself, past the scheduler: 1 reason stands against it.',
    ],
    [
      'a node that is named and is full',
      { pod: pod({ nodeName: 'a' }), holders: [holder('x', 'a', 1n), holder('p', 'a', 1n)] },
      'names node a itself, past the scheduler: 1 reason stands against it.',
    ],
    [
      'a node that is named and fits',
      { pod: pod({ nodeName: 'a' }), holders: [holder('p', 'a', 1n)] },
      'names node a itself, past the scheduler, and waits for its kubelet.',
    ],
    [
      'a node that went down before the pod started',
      { pod: pod({ nodeName: 'a' }, { phase: 'Pending', ...SCHEDULED }), nodes: [node('a', {}, down)] },
      "is on node a and can't start, for 1 reason. It is not a GPU problem.",
    ],
    [
      'a node that went down under the pod',
      { pod: pod({ nodeName: 'a' }, { phase: 'Running', ...SCHEDULED }), nodes: [node('a', {}, down)] },
      'was running on a when that node was last heard of: Kubelet stopped posting node status.',
    ],
    [
      'a container that crashes',
      {
        pod: pod(
          { nodeName: 'a' },
          { phase: 'Running', ...SCHEDULED, ...waitingFor('CrashLoopBackOff', 'back-off 5m0s') },
        ),
      },
      'is on node a, and not all of its containers run, for 1 reason.',
    ],
    [
      'an eviction',
      {
        pod: pod(
          { nodeName: 'a' },
          { phase: 'Failed', reason: 'Evicted', message: 'The node was low on resource: memory.' },
        ),
      },
      'has failed: Evicted: The node was low on resource: memory.',
    ],
    [
      'a preemption',
      {
        pod: pod(
          { nodeName: 'a' },
          {
            phase: 'Failed',
            conditions: [
              {
                type: 'DisruptionTarget',
                status: 'True',
                reason: 'PreemptionByScheduler',
                message: 'default-scheduler: preempting to accommodate a higher priority pod',
              },
            ],
          },
        ),
      },
      'has failed: PreemptionByScheduler: default-scheduler: preempting to accommodate a higher priority pod.',
    ],
    [
      'a pod that ended by itself',
      { pod: pod({ nodeName: 'a' }, { phase: 'Failed' }) },
      'has failed by itself: kubectl logs tells more. It is not Pending.',
    ],
    [
      'a deletion for another pod',
      {
        pod: {
          ...pod(
            { nodeName: 'a' },
            {
              phase: 'Running',
              conditions: [{ type: 'DisruptionTarget', status: 'True', reason: 'PreemptionByScheduler', message: 'm' }],
            },
          ),
          metadata: { name: 'p', deletionTimestamp: 'now' },
        },
      },
      'is being deleted: PreemptionByScheduler: m.',
    ],
    ['no pod that is wanted', { exists: false, idle: 'asks for 0 replicas' }, 'asks for 0 replicas.'],
    [
      'a pod that is missing without a word',
      { exists: false },
      'a pod is missing, and no event says why: its controller has not tried yet, or the event is gone.',
    ],
  ])('%s', (_, input, text) => expect(first(input)).toBe(text));

  it.each<[string, Partial<ExplainInput>, string]>([
    [
      'of a claim',
      { pod: pod({ resourceClaims: [{ name: 'x', resourceClaimName: 'nope' }] }), claims: new Set() },
      'claim the resource claim nope, which the pod names, does not exist',
    ],
    [
      'of two kinds of GPUs',
      {
        pod: pod({}, unschedulable(''), { [GPU]: '1', [SLICE]: '1' }),
        nodes: [node('a'), node('b', { [SLICE]: '2' })],
      },
      'more-than-a-node-has the pod takes 1 nvidia.com/gpu and 1 nvidia.com/mig-1g.10gb, and no node has both',
    ],
    [
      'of a node that is not there',
      { pod: pod({ nodeName: 'gone' }) },
      'no-such-node there is no node gone, so no kubelet starts the pod',
    ],
    [
      'of a node without GPUs',
      { pod: pod({ nodeName: 'cpu' }), nodes: [node('cpu', { cpu: '1' })] },
      'no-node-offers node cpu does not advertise nvidia.com/gpu: its kubelet starts the pod without it',
    ],
    [
      'of GPUs of another vendor',
      { pod: pod({}, unschedulable(''), { 'amd.com/gpu': '1' }), nodes: [node('a')] },
      'no-node-offers no node offers amd.com/gpu; there are GPUs of other vendors, nvidia.com/gpu (1 on a)',
    ],
    [
      'of fewer GPUs than an init container wants, where others have more elsewhere',
      {
        pod: pod({ nodeSelector: { pool: 'x' } }, unschedulable(''), { [GPU]: '4' }),
        nodes: [node('a', { [GPU]: '2' }, { labels: { pool: 'x' } }), node('b', { [GPU]: '4' })],
      },
      'more-than-a-node-has the pod takes 4 nvidia.com/gpu, and the largest node that it may go to has 2; none of the nodes that have enough of its GPUs (b) meets pool=x',
    ],
    [
      'of a selector that keeps the pod from all GPUs, which would not keep one without',
      {
        pod: pod({ nodeSelector: { pool: 'x' } }, unschedulable('')),
        nodes: [node('a', { cpu: '2' }, { labels: { pool: 'x' } }), node('b')],
      },
      'gpus-elsewhere none of the nodes that have enough of its GPUs (b) meets pool=x',
    ],
    [
      'of a crash',
      {
        pod: pod(
          { nodeName: 'a' },
          {
            phase: 'Running',
            containerStatuses: [
              {
                name: 'c',
                state: { waiting: { reason: 'CrashLoopBackOff', message: 'back-off' } },
                lastState: { terminated: { exitCode: 137, reason: 'OOMKilled' } },
              },
            ],
          },
        ),
      },
      'container container "c" waits: CrashLoopBackOff: back-off (it ended with 137, OOMKilled)',
    ],
  ])('the reason %s', (_, input, text) => {
    const reasons = reasonsOf(explain(inputOf({ nodes: [node('a')], ...input })));
    expect(reasons.map((reason) => `${reason.code} ${reason.text}`)).toEqual([text]);
  });
});

function inputOf(given: Partial<ExplainInput>): ExplainInput {
  const nothing = {
    pod: pod({}, unschedulable('')),
    runtimeClasses: new Set<string>(),
    deviceClassResources: new Set<string>(),
  };
  return anInput({ ...nothing, ...given });
}

function pod(spec: object = {}, status: object = { phase: 'Pending' }, limits: object = { [GPU]: '1' }): object {
  const containers = [{ name: 'c', image: 'x', resources: { limits, requests: limits } }];
  return { metadata: { name: 'p' }, spec: { containers, ...spec }, status };
}

function unschedulable(message: string): object {
  return {
    phase: 'Pending',
    conditions: [{ type: 'PodScheduled', status: 'False', reason: 'Unschedulable', message }],
  };
}

/** As the API server writes it when a scheduler binds the pod. */
const SCHEDULED = { conditions: [{ type: 'PodScheduled', status: 'True' }] };

function waitingFor(reason: string, message = ''): object {
  return { containerStatuses: [{ name: 'c', state: { waiting: { reason, message } } }] };
}

function event(reason: string, message: string) {
  return { type: 'Warning', reason, message, source: 'kubelet' };
}

function node(
  name: string,
  allocatable: Readonly<Record<string, string>> = {},
  more: Partial<NodeState> = {},
): NodeState {
  const all = Object.keys(allocatable).length > 0 ? allocatable : { [GPU]: '1' };
  return {
    name,
    labels: {},
    allocatable: all,
    capacity: all,
    taints: [],
    unschedulable: false,
    conditions: [],
    ...more,
  };
}

function holder(name: string, on: string, units: bigint): Holder {
  return { namespace: 'team-a', name, node: on, units: new Map([[GPU, units]]) };
}

function taint(key: string, effect = 'NoSchedule') {
  return { key, effect };
}

function layout(config: string, state: string): Readonly<Record<string, string>> {
  return { 'nvidia.com/mig.config': config, 'nvidia.com/mig.config.state': state };
}
