import { randomUUID } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { openCluster } from '../../src/cluster/cluster.ts';
import type { ClusterSource } from '../../src/cluster/source.ts';
import { type ControlPlane, startControlPlane } from '../cluster/controlplane.ts';
import { mustKubectl } from '../cluster/kubectl.ts';
import { addNodes, nodes } from '../cluster/nodes.ts';

describe('the watch of a real API server', () => {
  let cluster: ControlPlane;
  let source: ClusterSource;
  beforeAll(async () => {
    cluster = await startControlPlane({ log: console.log });
    await addNodes(cluster);
    source = await openCluster({ kubeconfig: cluster.kubeconfig, log: pino({ level: 'silent' }) });
    await until(() => source.synced());
  });
  afterAll(async () => {
    await source?.close();
    await cluster?.stop();
  });

  const until = (what: () => unknown) => vi.waitUntil(what, { timeout: 30_000, interval: 20 });
  const kubectl = (...args: string[]) => mustKubectl(cluster.kubectl, args);
  const watchOf = (resource: string) => source.watches().find((watch) => watch.resource === resource);

  const kubeconfigWith = async ({ server = cluster.server, token = cluster.token }): Promise<string> => {
    const config = JSON.parse(await readFile(cluster.kubeconfig, 'utf8'));
    config.clusters[0].cluster.server = server;
    config.users[0].user.token = token;
    const file = join(cluster.dir, `kubeconfig-${randomUUID()}`);
    await writeFile(file, JSON.stringify(config));
    return file;
  };

  test('namespaces and nodes are in memory once it is synced', () => {
    expect(source.known('default')).toEqual({ 'kubernetes.io/metadata.name': 'default' });
    const expected = nodes.map(({ metadata: { name, labels }, status: { allocatable } }) => ({
      name,
      labels,
      allocatable,
    }));
    expect(source.nodes()).toHaveLength(nodes.length);
    expect(source.nodes()).toEqual(expect.arrayContaining(expected));
  });

  test('a namespace that was created a moment ago is found, watch or not', async () => {
    await kubectl('create', 'namespace', 'fresh');
    expect(await source.namespaceLabels('fresh')).toMatchObject({ found: true });
    expect(await source.namespaceLabels('never')).toEqual({ found: false });
  });

  test('a changed label and a deletion are seen', async () => {
    await kubectl('label', 'namespace', 'fresh', 'gpugate.dev/mode=whole');
    await until(() => source.known('fresh')?.['gpugate.dev/mode'] === 'whole');
    await kubectl('delete', 'namespace', 'fresh', '--wait=false');
    await until(() => source.known('fresh') === undefined);
  });

  test('nodes() stays the same array while nothing that is kept of a node changes', async () => {
    const before = source.nodes();
    const heard = watchOf('nodes')?.lastEventAt ?? 0;
    await kubectl('annotate', 'node', 'cpu', 'example.test/heartbeat=1');
    await until(() => (watchOf('nodes')?.lastEventAt ?? 0) > heard);
    expect(source.nodes()).toBe(before);
    await kubectl('label', 'node', 'cpu', 'example.test/changed=1');
    await until(() => source.nodes() !== before);
  });

  test('a restart of the API server is survived, and what changed meanwhile is seen', async () => {
    await cluster.stopApiServer();
    await until(() => (watchOf('namespaces')?.failures ?? 0) > 1);
    expect(source.known('default')).toBeDefined();
    expect(await source.namespaceLabels('unseen', { timeoutMs: 200 })).toMatchObject({ found: 'unknown' });
    await cluster.startApiServer();
    await kubectl('label', 'namespace', 'default', 'example.test/after=restart');
    await until(() => source.known('default')?.['example.test/after'] === 'restart');
    expect(source.nodes()).toHaveLength(nodes.length);
    expect(await source.namespaceLabels('unseen')).toEqual({ found: false });
  });

  test('a connection that dies without a word, and takes both watches with it, is replaced', async () => {
    const proxy = await deafenableProxy(Number(new URL(cluster.server).port));
    const timing = { silenceMs: 1500 };
    const log = pino({ level: 'silent' });
    const behind = await openCluster({ kubeconfig: await kubeconfigWith({ server: proxy.server }), log, timing });
    await until(() => behind.synced());
    proxy.deafen();
    await kubectl('label', 'namespace', 'default', 'example.test/silence=over');
    await until(() => behind.known('default')?.['example.test/silence'] === 'over');
    await behind.close();
    await proxy.close();
  });

  test('a user without rights is told apart from a missing namespace', async () => {
    await kubectl('create', 'serviceaccount', 'nobody');
    const token = (await kubectl('create', 'token', 'nobody')).trim();
    const kubeconfig = await kubeconfigWith({ token });
    const powerless = await openCluster({ kubeconfig, log: pino({ level: 'silent' }) });
    const lookup = await powerless.namespaceLabels('default', { timeoutMs: 5000 });
    expect(lookup).toMatchObject({ found: 'unknown', reason: expect.stringContaining('is forbidden') });
    expect(powerless.synced()).toBe(false);
    await powerless.close();
  });
});

/** A TCP proxy whose connections so far can be made to pass nothing on, as a firewall does that has forgotten them. */
async function deafenableProxy(port: number) {
  const sockets = new Set<Socket>();
  const proxy = createServer((client) => {
    const upstream = connect(port, '127.0.0.1');
    for (const [from, to] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(from);
      from.on('error', () => {}).pipe(to);
    }
  });
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  return {
    server: `https://127.0.0.1:${(proxy.address() as AddressInfo).port}`,
    deafen() {
      for (const socket of sockets) socket.unpipe().pause();
    },
    async close() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => proxy.close(resolve));
    },
  };
}
