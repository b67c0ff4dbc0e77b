import { readdirSync, readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { type NodeManifest, nodes } from '../test/cluster/nodes.ts';

/** An object as the API server sends it, with what gpugate keeps and with the rest. */
export interface Stored {
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
  };
}

/** How large the cluster is. */
export interface Size {
  readonly namespaces: number;
  readonly nodes: number;
}

const POLICIES = new URL('../deploy/policies/', import.meta.url);

/** Objects of a large cluster by the path of their collection. Nodes are as large as a kubelet makes them, images included. */
export function largeCluster(size: Size): ReadonlyMap<string, readonly Stored[]> {
  const policies = readdirSync(POLICIES).map((file) => parse(readFileSync(new URL(file, POLICIES), 'utf8')) as Stored);
  const names = policies.map(({ metadata }) => metadata.name);
  return new Map([
    ['/api/v1/namespaces', times(size.namespaces, (at) => namespace(at, names))],
    ['/api/v1/nodes', times(size.nodes, node)],
    ['/apis/gpugate.dev/v1alpha1/gpupolicies', policies],
    ['/api/v1/resourcequotas', times(size.namespaces, quota)],
    ['/api/v1/limitranges', []],
    ['/apis/resource.k8s.io/v1/deviceclasses', []],
    ['/apis/node.k8s.io/v1/runtimeclasses', []],
  ]);
}

export function namespaceName(at: number): string {
  return `team-${String(at).padStart(5, '0')}`;
}

/** One of ten namespaces is governed. */
function namespace(at: number, policies: readonly string[]): Stored {
  const name = namespaceName(at);
  const policy = at % 10 === 0 ? { 'gpugate.dev/policy': policies[(at / 10) % policies.length] ?? '' } : {};
  const labels = { 'kubernetes.io/metadata.name': name, 'example.com/owner': `owner-${at % 300}`, ...policy };
  return { metadata: { name, labels, annotations: { 'example.com/description': filler(300) }, ...managed(400) } };
}

function node(at: number): Stored {
  const make = nodes[at % nodes.length] as NodeManifest;
  const name = `node-${String(at).padStart(5, '0')}`;
  const images = times(50, (image) => ({
    names: [
      `registry.example/team/image-${image}@sha256:${String(image).padStart(64, 'a')}`,
      `registry.example/team/image-${image}:1.${at}`,
    ],
    sizeBytes: 1_000_000 + image,
  }));
  const labels = {
    ...make.metadata.labels,
    'kubernetes.io/hostname': name,
    'topology.kubernetes.io/zone': `zone-${at % 3}`,
  };
  return Object.assign(
    { metadata: { name, labels, annotations: { 'node.alpha.kubernetes.io/ttl': '0' }, ...managed(4000) } },
    { spec: { podCIDR: '10.0.0.0/24', providerID: `example://${name}` }, status: { ...make.status, images } },
  );
}

function quota(at: number): Stored {
  const hard = { 'requests.nvidia.com/gpu': '4', 'requests.cpu': '100', pods: '200' };
  return Object.assign(
    { metadata: { name: 'quota', namespace: namespaceName(at), ...managed(300) } },
    { spec: { hard } },
  );
}

/** managedFields of a length, which every stored object has and gpugate does not keep. */
function managed(length: number): object {
  return { managedFields: [{ manager: 'kubelet', operation: 'Update', fieldsV1: { 'f:filler': filler(length) } }] };
}

function filler(length: number): string {
  return 'abcdefghij'.repeat(Math.ceil(length / 10)).slice(0, length);
}

function times<T>(count: number, make: (at: number) => T): T[] {
  return Array.from({ length: count }, (_, at) => make(at));
}
