import type { NodeInfo } from '../snapshot.ts';
import { asking, container, governed, ONE_GPU, pod, table } from './testing.ts';

const node = (allocatable: Record<string, string>, name = 'node'): NodeInfo => ({ name, labels: {}, allocatable });
const policy = governed({ maxGpus: { perPod: 64 } });
const warning = (value = 'nvidia.com/gpu') => [{ severity: 'warning', field: 'spec', value }];
const four = node({ 'nvidia.com/gpu': '4' });

table('GPU160', {
  'more than the largest node has': {
    policy,
    nodes: [four],
    pod: pod(asking({ 'nvidia.com/gpu': 6 })),
    want: warning(),
  },
  'as many as the largest node has': { policy, nodes: [four], pod: pod(asking({ 'nvidia.com/gpu': 4 })), want: [] },
  'containers that run together are added up': {
    policy,
    nodes: [four],
    pod: pod([asking({ 'nvidia.com/gpu': 3 }), container('b', { resources: { limits: { 'nvidia.com/gpu': 2 } } })]),
    want: warning(),
  },
  'an init container hands its GPUs on': {
    policy,
    nodes: [four],
    pod: pod(asking({ 'nvidia.com/gpu': 3 }), {
      initContainers: [container('init', { resources: { limits: { 'nvidia.com/gpu': 4 } } })],
    }),
    want: [],
  },
  'a name that no node offers, after the rename': {
    policy: governed({ sharing: 'mig', mig: { profile: '2g.20gb' } }),
    nodes: [node({ 'nvidia.com/mig-1g.10gb': '7' })],
    pod: pod(asking(ONE_GPU)),
    want: warning('nvidia.com/mig-2g.20gb'),
  },
  'a name that a node advertises with nothing behind it': {
    policy,
    nodes: [node({ 'nvidia.com/gpu': '0' })],
    pod: pod(asking(ONE_GPU)),
    want: warning(),
  },
  'no node offers any GPU: they come when they are needed': {
    policy,
    nodes: [node({})],
    pod: pod(asking(ONE_GPU)),
    want: [],
  },
  'the policy says that nodes come on demand': {
    policy: governed({ nodesOnDemand: true }),
    nodes: [four],
    pod: pod(asking({ 'nvidia.com/gpu': 6 })),
    want: [],
  },
  'a DeviceClass serves the name': {
    policy,
    nodes: [node({ 'amd.com/gpu': '1' })],
    deviceClassResources: new Set(['nvidia.com/gpu']),
    pod: pod(asking(ONE_GPU)),
    want: [],
  },
  'zero asks for none': {
    policy,
    nodes: [node({ 'amd.com/gpu': '1' })],
    pod: pod(asking({ 'nvidia.com/gpu': 0 })),
    want: [],
  },
  'without a policy capacity is not judged': { nodes: [four], pod: pod(asking({ 'nvidia.com/gpu': 6 })), want: [] },
});
