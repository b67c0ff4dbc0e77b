import type { ControlPlane } from './controlplane.ts';
import { mustKubectl } from './kubectl.ts';

/** A Node with its status, as a kubelet, NVIDIA's device plugin and GPU feature discovery would leave it. */
export interface NodeManifest {
  readonly apiVersion: 'v1';
  readonly kind: 'Node';
  readonly metadata: { readonly name: string; readonly labels: Readonly<Record<string, string>> };
  readonly status: {
    readonly capacity: Readonly<Record<string, string>>;
    readonly allocatable: Readonly<Record<string, string>>;
    readonly conditions: readonly object[];
  };
}

/** A Node list, as `kubectl get nodes -o yaml` writes it. */
export interface NodeList {
  readonly apiVersion: 'v1';
  readonly kind: 'List';
  readonly items: readonly NodeManifest[];
}

// One cluster has one device plugin configuration: its MIG strategy is labelled on every GPU node, MIG or not
// (NVIDIA/k8s-device-plugin internal/lm/mig-strategy.go).
const everyGpuNode = labels('', {
  'gpu.present': 'true',
  'gpu.mode': 'compute',
  'mig.strategy': 'mixed',
  'mps.capable': 'false',
  'vgpu.present': 'false',
  'cuda.driver-version.full': '580.105.08',
  'cuda.driver-version.major': '580',
  'cuda.driver-version.minor': '105',
  'cuda.driver-version.revision': '08',
  'cuda.runtime-version.full': '13.0',
  'cuda.runtime-version.major': '13',
  'cuda.runtime-version.minor': '0',
});

const a100 = labels('gpu.', { product: 'NVIDIA-A100-SXM4-80GB', memory: '81920', ...family('ampere', '8', '0') });

const wholeA100 = {
  ...everyGpuNode,
  ...a100,
  ...labels('', { 'mig.capable': 'true' }),
  ...labels('gpu.', { count: '8', replicas: '1', 'sharing-strategy': 'none' }),
};

// Two boards: one cut into seven 1g.10gb, one into three 2g.20gb. Labels of whole GPUs in MIG mode say 0 replicas
// (internal/lm/resource.go, NewGPUResourceLabelerWithoutSharing); memory of the slices is what NVML reports.
const mixedMig = {
  ...everyGpuNode,
  ...a100,
  ...labels('', { 'mig.capable': 'true', 'mig.config': '1g-and-2g', 'mig.config.state': 'success' }),
  ...labels('gpu.', { count: '2', replicas: '0', 'sharing-strategy': 'none' }),
  ...slice('1g.10gb', { count: '7', memory: '9856', multiprocessors: '14', slices: '1', copy: '1', decoder: '0' }),
  ...slice('2g.20gb', { count: '3', memory: '19968', multiprocessors: '28', slices: '2', copy: '2', decoder: '1' }),
};

const timeSlicedT4 = {
  ...everyGpuNode,
  ...labels('', { 'mig.capable': 'false' }),
  ...labels('gpu.', { product: 'Tesla-T4-SHARED', memory: '15360', ...family('turing', '7', '5') }),
  ...labels('gpu.', { count: '1', replicas: '4', 'sharing-strategy': 'time-slicing' }),
};

// With renameByDefault the product keeps its name, the labels keep the prefix nvidia.com/gpu, and nvidia.com/gpu counts 0.
const renamedA10 = {
  ...everyGpuNode,
  ...labels('', { 'mig.capable': 'false' }),
  ...labels('gpu.', { product: 'NVIDIA-A10', memory: '23028', ...family('ampere', '8', '6') }),
  ...labels('gpu.', { count: '1', replicas: '4', 'sharing-strategy': 'time-slicing' }),
};

const large = { cpu: '128', memory: '1056Gi', 'ephemeral-storage': '3500Gi', pods: '110' };
const small = { cpu: '16', memory: '64Gi', 'ephemeral-storage': '200Gi', pods: '110' };

/** One Node of each make a gpugate policy distinguishes: whole, mixed MIG, time-sliced, time-sliced and renamed, and without a GPU. */
export const nodes: readonly NodeManifest[] = [
  node('a100-1', wholeA100, { ...large, 'nvidia.com/gpu': '8' }),
  node('a100-2', wholeA100, { ...large, 'nvidia.com/gpu': '8' }),
  node('a100-mig', mixedMig, { ...large, 'nvidia.com/mig-1g.10gb': '7', 'nvidia.com/mig-2g.20gb': '3' }),
  node('t4-shared', timeSlicedT4, { ...small, 'nvidia.com/gpu': '4' }),
  node('a10-shared-renamed', renamedA10, { ...small, 'nvidia.com/gpu': '0', 'nvidia.com/gpu.shared': '4' }),
  node('cpu', {}, small),
];

/** The nodes as one manifest. `kubectl apply` creates them as they stand: a Node, alone among objects, may be created with its status. */
export function nodeList(): NodeList {
  return { apiVersion: 'v1', kind: 'List', items: nodes };
}

/** Adds the nodes to a cluster, or sets them back to what they are here. */
export async function addNodes({ kubectl }: Pick<ControlPlane, 'kubectl'>): Promise<void> {
  const apply = ['apply', '--server-side', '--force-conflicts', '-f', '-'];
  await mustKubectl(kubectl, apply, JSON.stringify(nodeList()));
  await mustKubectl(kubectl, [...apply, '--subresource=status'], JSON.stringify(nodeList()));
}

function node(name: string, extraLabels: Record<string, string>, resources: Record<string, string>): NodeManifest {
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: {
      name,
      labels: {
        'kubernetes.io/hostname': name,
        'kubernetes.io/os': 'linux',
        'kubernetes.io/arch': 'amd64',
        ...extraLabels,
      },
    },
    status: {
      capacity: resources,
      allocatable: resources,
      conditions: [
        { type: 'Ready', status: 'True', reason: 'KubeletReady', message: 'a Node object without a kubelet' },
      ],
    },
  };
}

function labels(prefix: string, values: Record<string, string>): Record<string, string> {
  return Object.fromEntries(Object.entries(values).map(([key, value]) => [`nvidia.com/${prefix}${key}`, value]));
}

function family(name: string, major: string, minor: string): Record<string, string> {
  return { family: name, 'compute.major': major, 'compute.minor': minor };
}

function slice(
  profile: string,
  of: { count: string; memory: string; multiprocessors: string; slices: string; copy: string; decoder: string },
): Record<string, string> {
  return labels(`mig-${profile}.`, {
    product: `NVIDIA-A100-SXM4-80GB-MIG-${profile}`,
    count: of.count,
    replicas: '1',
    'sharing-strategy': 'none',
    memory: of.memory,
    multiprocessors: of.multiprocessors,
    'slices.gi': of.slices,
    'slices.ci': of.slices,
    'engines.copy': of.copy,
    'engines.decoder': of.decoder,
    'engines.encoder': '0',
    'engines.jpeg': '0',
    'engines.ofa': '0',
  });
}
