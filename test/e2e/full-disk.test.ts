import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, mkdirSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { connect } from 'node:tls';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { DEVELOPMENT_NAMES } from '../../src/certificates/issue.ts';
import { makeAuthority, makeLeaf, type Signed } from '../../src/certificates/sign.ts';
import { type Gpugate, register, startGpugate } from '../cluster/gpugate.ts';
import { balancer, type TcpProxy } from '../cluster/proxies.ts';
import { type Governed, startGoverned } from './governed.ts';
import { startStream, table } from './stream.ts';

const SECONDS = 8;

/** Two replicas with the files of one directory, on a disk of 64 KiB that gets full while certificates are renewed. */
describe('where the disk with the certificates is full', () => {
  let cluster: Governed;
  let replicas: readonly Gpugate[] = [];
  let front: TcpProxy;
  let dir: string;
  let ca: Signed;

  beforeAll(async () => {
    cluster = await startGoverned({ registered: false });
    dir = join(cluster.plane.dir, 'small-disk');
    mkdirSync(dir);
    mount(dir);
    ca = await makeAuthority('CA of a test', validity());
    writeFileSync(join(dir, 'ca.crt'), ca.certificate);
    write(dir, await leafOf(ca));
    const start = () => startGpugate(cluster.plane, { certDir: dir });
    replicas = [await start(), await start()];
    front = await balancer(replicas.map(({ url }) => Number(new URL(url).port)));
    await register(cluster.plane, { url: `https://127.0.0.1:${front.port}`, certDir: dir });
  });
  afterAll(async () => {
    for (const replica of replicas) await replica.stop();
    if (dir) execFileSync('umount', [dir]);
    await cluster?.stop();
    await front?.close();
  });

  test('the last good pair is served, and the next good one when there is room again', {
    timeout: 300_000,
  }, async () => {
    const stream = startStream({ plane: cluster.plane, rate: 60, dryRun: true });
    await stream.phase('disk is full');
    const until = performance.now() + SECONDS * 1000;
    while (performance.now() < until) {
      for (const torn of [emptied, halved, unmatched]) {
        torn(dir, await leafOf(ca));
        await sleep(400);
      }
    }
    await stream.phase('room again');
    rmSync(join(dir, 'filler'));
    const next = await leafOf(ca);
    write(dir, next);
    for (const { url } of replicas) await expect.poll(() => served(url), { timeout: 20_000 }).toBe(next.certificate);
    const counts = await stream.stop();
    console.log(table(counts));
    expect(counts.flatMap(({ examples }) => examples)).toEqual([]);
    expect(counts.map(({ sent, outcomes }) => sent - outcomes.right)).toEqual(counts.map(() => 0));
    for (const { metricsUrl } of replicas) {
      const metrics = await (await fetch(`${metricsUrl}/metrics`)).text();
      expect(metrics).toMatch(/gpugate_certificate_reloads_total\{result="failure"\} [1-9]/);
    }
  });
});

function mount(dir: string): void {
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=64k', 'tmpfs', dir], { stdio: 'pipe' });
  } catch (error) {
    throw new Error(`a small disk takes root on Linux, to mount a tmpfs: ${(error as Error).message}`);
  }
}

function validity() {
  return { notBefore: new Date(Date.now() - 3_600_000), notAfter: new Date(Date.now() + 3_600_000) };
}

function leafOf(ca: Signed): Promise<Signed> {
  return makeLeaf(ca, DEVELOPMENT_NAMES, validity());
}

function write(dir: string, { certificate, key }: Signed): void {
  writeFileSync(join(dir, 'tls.crt'), certificate);
  writeFileSync(join(dir, 'tls.key'), key);
}

/** Takes all room that is left. */
function fill(dir: string): void {
  try {
    for (;;) appendFileSync(join(dir, 'filler'), Buffer.alloc(4096));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
  }
}

/** The writer has emptied the file when somebody else takes the room. */
function emptied(dir: string, { certificate }: Signed): void {
  truncateSync(join(dir, 'tls.crt'));
  fill(dir);
  expect(() => writeFileSync(join(dir, 'tls.crt'), certificate)).toThrow('ENOSPC');
}

/** Half of it was written when there was no more room. */
function halved(dir: string, { certificate }: Signed): void {
  truncateSync(join(dir, 'filler'));
  writeFileSync(join(dir, 'tls.crt'), certificate.slice(0, certificate.length / 2));
}

/** The certificate was written, its key was not. */
function unmatched(dir: string, { certificate }: Signed): void {
  writeFileSync(join(dir, 'tls.crt'), certificate);
}

async function served(url: string): Promise<string> {
  const { hostname: host, port } = new URL(url);
  const socket = connect({ host, port: Number(port), rejectUnauthorized: false });
  await once(socket, 'secureConnect');
  const leaf = socket.getPeerX509Certificate()?.toString() ?? '';
  socket.destroy();
  return leaf;
}
