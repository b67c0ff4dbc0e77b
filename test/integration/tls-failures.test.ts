import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { connect as connectPlain } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { connect } from 'node:tls';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { issue } from '../../src/certificates/issue.ts';
import { type Server, startServer } from './server.ts';

describe('a handshake that fails is counted by its reason', () => {
  let dir: string;
  let server: Server;
  beforeAll(async () => {
    dir = await mkdtemp(join(tmpdir(), 'gpugate-'));
    await writeFile(join(dir, 'other.crt'), (await issue(new Date())).ca);
  });
  afterAll(() => rm(dir, { recursive: true }));
  beforeEach(async () => {
    server = await startServer();
    return () => server.stop();
  });

  const counted = () => server.metrics.registry.getSingleMetricAsString('gpugate_tls_failures_total');
  const until = async (reason: string) => {
    while (!(await counted()).includes(`{reason="${reason}"} 1`)) await sleep(10);
  };

  it('not_trusted, and logged, when the client does not trust the certificate', async () => {
    const args = ['-s', '--cacert', join(dir, 'other.crt'), `https://127.0.0.1:${server.port}/livez`];
    // Its alert may be lost in the reset of the connection that it closes at once.
    while (!/\{reason="not_trusted"\} [1-9]/.test(await counted())) {
      await new Promise((resolve) => execFile('curl', args, resolve));
    }
    expect(server.lines[0]).toMatchObject({
      level: 40,
      msg: expect.stringContaining('does not trust our certificate: is the caBundle'),
    });
  });

  it('protocol, when it speaks an old TLS or none', async () => {
    connect({ host: '127.0.0.1', port: server.port, maxVersion: 'TLSv1.2' }).on('error', () => {});
    await until('protocol');
    expect(server.lines).toEqual([]);
  });

  it('closed, when it goes away without a word', async () => {
    const socket = connectPlain(server.port, '127.0.0.1', () => socket.end());
    await until('closed');
    expect(server.lines).toEqual([]);
  });

  it('and the own readiness check is none', async () => {
    expect((await server.send({ method: 'GET', path: '/readyz' })).status).toBe(200);
    await sleep(100);
    expect(await counted()).not.toMatch(/ [1-9]\d*$/m);
  });
});
