import { describe, expect, it } from 'vitest';
import type { NodeState } from '../cluster/node-state.ts';
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
    unknown: ['device plugin'],
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
