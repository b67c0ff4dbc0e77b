import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect as connectTcp, type Socket } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { connect as connectTls } from 'node:tls';
import { whenReady } from '../../cluster/component.ts';
import { mustKubectl } from '../../cluster/kubectl.ts';
import type { ProcessCluster } from '../../cluster/process-kubelet/cluster.ts';
import type { RunningPod } from '../../cluster/process-kubelet/pod.ts';
import type { Stream } from '../stream.ts';
import { replicas, settled } from './settled.ts';

/** Something that goes wrong in a cluster. */
export interface Disturbance {
  readonly name: string;
  /** Resolves when it is over. */
  readonly run: (cluster: ProcessCluster, stream: Stream) => Promise<void>;
}

const DAY_MS = 24 * 60 * 60 * 1000;

export const disturbances: readonly Disturbance[] = [
  { name: 'nothing', run: () => sleep(5_000) },
  { name: 'kill -9 of one replica', run: kill },
  { name: 'SIGTERM, one after the other', run: terminateEach },
  { name: 'new certificates, again and again', run: rotate },
  { name: 'API server restarts', run: ({ plane }) => plane.restartApiServer() },
  { name: 'etcd stands still', run: pauseEtcd },
  { name: 'watches are cut', run: cutWatches },
  { name: 'way to the API server is blocked', run: blockApiServer },
  { name: 'clock jumps ahead and back', run: (cluster) => jump(cluster, 400 * DAY_MS) },
  { name: 'clock jumps back and ahead', run: (cluster) => jump(cluster, -400 * DAY_MS) },
  { name: 'slow and half-open connections', run: holdConnections },
];

async function kill(cluster: ProcessCluster, stream: Stream): Promise<void> {
  const [pod] = replicas(cluster);
  stream.killing();
  for (const pid of pod.pids()) process.kill(pid, 'SIGKILL');
  await whenReady(
    [],
    async () => pod.status().containerStatuses?.some(({ restartCount }) => restartCount > 0) ?? false,
    60_000,
  );
  await sleep(3_000);
}

/** Deletes one pod after the other, as a drain of their nodes does. */
async function terminateEach(cluster: ProcessCluster): Promise<void> {
  for (const pod of replicas(cluster)) {
    await cluster.api('DELETE', `/api/v1/namespaces/gpugate/pods/${pod.name}`);
    await whenReady([], async () => !cluster.kubelet.pods().includes(pod), 60_000);
    await settled(cluster);
  }
}

/** Certificates live for half a minute in this test, so there are new ones all the time; here more are asked for, one after the other. */
async function rotate({ plane, api }: ProcessCluster): Promise<void> {
  const secret = '/api/v1/namespaces/gpugate/secrets/gpugate-certificates';
  const renewed = async () =>
    (await api('GET', secret)).body.metadata?.annotations?.['gpugate.dev/renew'] === undefined;
  for (const what of ['leaf', 'leaf', 'ca', 'leaf', 'leaf']) {
    const annotate = ['annotate', '--overwrite', '-n', 'gpugate', 'secret', 'gpugate-certificates'];
    await mustKubectl(plane.kubectl, [...annotate, `gpugate.dev/renew=${what}`]);
    await whenReady([], renewed, 60_000);
    await sleep(2_000);
  }
}

async function pauseEtcd({ plane }: ProcessCluster): Promise<void> {
  plane.pauseEtcd(true);
  await sleep(4_000);
  plane.pauseEtcd(false);
  await sleep(4_000);
}

async function cutWatches({ toApiServer }: ProcessCluster): Promise<void> {
  let cut = 0;
  for (let times = 0; times < 10; times++) {
    cut += toApiServer.cut();
    await sleep(500);
  }
  if (cut < 10) throw new Error(`only ${cut} connections were there to be cut`);
}

/** No packet gets through, and nobody is told: as when a firewall forgets a connection. */
async function blockApiServer({ toApiServer }: ProcessCluster): Promise<void> {
  toApiServer.block(true);
  await sleep(6_000);
  toApiServer.block(false);
  toApiServer.cut();
  await sleep(2_000);
}

/** The clock of one replica of two; the other one and the API server have the right time. */
async function jump(cluster: ProcessCluster, byMs: number): Promise<void> {
  const [pod] = replicas(cluster);
  const file = join(cluster.image.files, 'gpugate', `clock-${pod.name}`);
  writeFileSync(file, String(byMs));
  await whenReady([], async () => Math.abs(lastLogged(pod) - Date.now()) > DAY_MS, 20_000);
  await sleep(6_000);
  rmSync(file);
  await sleep(4_000);
}

/** The time of the last line in the log of a pod, by its own clock. */
function lastLogged({ dir }: RunningPod): number {
  const lines = readFileSync(join(dir, 'gpugate/gpugate.log'), 'utf8').trimEnd().split('\n');
  const [, time = ''] = /"time":"([^"]+)"/.exec(lines.at(-1) ?? '') ?? [];
  return Date.parse(time) || Date.now();
}

/** Connections that say nothing, half a word, or a request that never ends: 100 of each to each replica. */
async function holdConnections(cluster: ProcessCluster): Promise<void> {
  const open: Socket[] = [];
  for (const { address: host } of replicas(cluster)) {
    const tcp = () => connectTcp({ host, port: 8443 });
    const tls = () => connectTls({ host, port: 8443, rejectUnauthorized: false });
    for (let times = 0; times < 100; times++) {
      const sockets = [tcp(), tcp(), tls(), tls(), tls()];
      const [, hello, , header, body] = sockets;
      hello?.write(Buffer.from([0x16, 0x03, 0x01, 0x02, 0x00, 0x01]));
      header?.write('POST /validate HTTP/1.1\r\nHost: gpugate\r\nContent-');
      body?.write('POST /validate HTTP/1.1\r\nHost: gpugate\r\nContent-Length: 1000000\r\n\r\n{"apiVersion":');
      for (const socket of sockets) socket.on('error', () => {}); // That they are thrown out is as well.
      open.push(...sockets);
    }
  }
  await sleep(12_000);
  for (const socket of open) socket.destroy();
}
