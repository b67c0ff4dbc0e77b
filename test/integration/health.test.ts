import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FakeApiServer } from '../cluster/fake-api-server.ts';
import { writeKubeconfig } from '../cluster/fake-objects.ts';
import { freePorts } from '../cluster/ports.ts';
import { serve } from './gpugate.ts';

describe('while the API server is away', () => {
  let dir: string;
  let port: number;
  let api: FakeApiServer;
  let served: Awaited<ReturnType<typeof serve>>;
  beforeEach(async () => {
    dir = await mkdtemp(join(tmpdir(), 'gpugate-'));
    [port] = (await freePorts(1)) as [number];
    const kubeconfig = await writeKubeconfig(dir, port);
    api = new FakeApiServer();
    served = await serve(['--kubeconfig', kubeconfig, '--shutdown-delay', '0']);
  });
  afterEach(async () => {
    await served.remove();
    await api.stop();
    await rm(dir, { recursive: true });
  });

  const get = async (path: string) => {
    const reply = await fetch(`http://127.0.0.1:${served.metricsPort}${path}`);
    return { status: reply.status, text: await reply.text() };
  };

  it('is alive and not ready; it is ready once everything was listed, and stays so when the API server goes again', async () => {
    expect(await get('/livez')).toMatchObject({ status: 200 });
    const waiting = await get('/readyz');
    expect(waiting.status).toBe(503);
    expect(waiting.text).toContain('[-] cluster: waiting for the first list of namespaces and nodes and gpupolicies\n');

    api.server.listen(port, '127.0.0.1');
    await once(api.server, 'listening');
    while ((await get('/readyz')).status !== 200) await sleep(50);

    const { failures } = await watched();
    await api.stop();
    while ((await watched()).failures <= failures) await sleep(50);
    expect(await get('/readyz')).toMatchObject({ status: 200 });
    expect(await get('/livez')).toMatchObject({ status: 200 });
  });

  const watched = async () => ({
    failures: Number(
      /^gpugate_watch_failures_total\{resource="namespaces"\} (\d+)$/m.exec((await get('/metrics')).text)?.[1],
    ),
  });
});
