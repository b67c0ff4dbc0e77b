import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type ControlPlane, startControlPlane } from '../cluster/controlplane.ts';
import { mustKubectl } from '../cluster/kubectl.ts';
import { addNodes, nodeList, nodes } from '../cluster/nodes.ts';

describe('the control plane of the end-to-end tests', () => {
  let cluster: ControlPlane;
  beforeAll(async () => {
    cluster = await startControlPlane({ log: console.log });
    await addNodes(cluster);
  });
  afterAll(() => cluster?.stop());

  const nodeOf = async (pod: string): Promise<string> => {
    const wait = ['wait', `pod/${pod}`, '--for=condition=PodScheduled', '--timeout=20s'];
    await mustKubectl(cluster.kubectl, wait);
    return mustKubectl(cluster.kubectl, ['get', 'pod', pod, '-o', 'jsonpath={.spec.nodeName}']);
  };
  const create = (name: string, resource: string) =>
    mustKubectl(cluster.kubectl, ['create', '-f', '-'], JSON.stringify(podAskingFor(name, resource)));

  test('every node is there with what it can give, and without a taint', async () => {
    const { items } = JSON.parse(await mustKubectl(cluster.kubectl, ['get', 'nodes', '-o', 'json']));
    const seen = items.map((item: Record<string, Record<string, unknown>>) => ({
      name: item.metadata?.name,
      allocatable: item.status?.allocatable,
      taints: item.spec?.taints,
    }));
    const expected = nodes.map(({ metadata, status }) => ({ name: metadata.name, allocatable: status.allocatable }));
    expect(seen).toEqual(expect.arrayContaining(expected));
    expect(seen).toHaveLength(nodes.length);
  });

  test('a pod that asks for a MIG slice lands on the MIG node', async () => {
    await create('slice', 'nvidia.com/mig-1g.10gb');
    expect(await nodeOf('slice')).toBe('a100-mig');
  });

  test('a pod that asks for a renamed shared GPU lands on the node that renames', async () => {
    await create('renamed', 'nvidia.com/gpu.shared');
    expect(await nodeOf('renamed')).toBe('a10-shared-renamed');
  });

  test('a Deployment becomes a pod: the controllers run', async () => {
    await mustKubectl(cluster.kubectl, ['create', 'deployment', 'web', '--image=example.test/web']);
    const wait = ['wait', 'pod', '-l', 'app=web', '--for=create', '--timeout=20s'];
    expect(await mustKubectl(cluster.kubectl, wait)).toContain('condition met');
  });

  test('plain kubectl apply of the manifest creates the nodes with their status', async () => {
    await mustKubectl(cluster.kubectl, ['delete', 'nodes', '--all']);
    await mustKubectl(cluster.kubectl, ['apply', '-f', '-'], JSON.stringify(nodeList()));
    const slices = ['get', 'node', 'a100-mig', '-o', 'jsonpath={.status.allocatable.nvidia\\.com/mig-1g\\.10gb}'];
    expect(await mustKubectl(cluster.kubectl, slices)).toBe('7');
  });

  test('kube-apiserver keeps its data and its port over a restart', async () => {
    await cluster.restartApiServer();
    expect((await cluster.kubectl(['get', 'deployment', 'web'])).code).toBe(0);
  });

  test('a component that cannot start says why', async () => {
    const start = startControlPlane({ apiServerArgs: ['--no-such-flag'] });
    await expect(start).rejects.toThrow(/kube-apiserver ended early \(exit 1\):[\s\S]*unknown flag: --no-such-flag/);
  });
});

function podAskingFor(name: string, resource: string): object {
  const resources = { limits: { [resource]: 1 } };
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace: 'default' },
    spec: { containers: [{ name: 'main', image: 'example.test/cuda', resources }] },
  };
}
