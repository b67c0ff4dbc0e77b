import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { FakeApiServer } from '../../test/cluster/fake-api-server.ts';
import type { ApiClient } from './client.ts';
import { clusterExtras } from './extras.ts';

const GPU = 'requests.nvidia.com/gpu';

let api: FakeApiServer;
let client: ApiClient;
let extras: ReturnType<typeof clusterExtras>;
beforeEach(async () => {
  api = new FakeApiServer();
  client = await api.start();
  const log = { info: () => undefined, warn: () => undefined, error: () => undefined };
  extras = clusterExtras(client, { log, timing: {} });
});
afterEach(async () => {
  await extras.close();
  await client.close();
  await api.stop();
});

const quota = (namespace: string, version: number) => ({
  metadata: { name: 'quota', namespace, resourceVersion: String(version) },
  spec: { hard: { [GPU]: '4', pods: '10' } },
});

async function until(reached: () => boolean): Promise<void> {
  while (!reached()) await sleep(10);
}

it('limits are those of the namespace, unknown until both lists have come, and follow the watch', async () => {
  api.objects = [quota('team-a', 5), quota('team-b', 6)];
  expect(extras.limits('team-a')).toBeUndefined();
  await until(() => extras.limits('team-a') !== undefined);
  // This API server has one collection, so the same objects are limit ranges as well, without a word on GPUs.
  expect(extras.limits('team-a')).toEqual([
    { kind: 'ResourceQuota', name: 'quota', namespace: 'team-a', resources: [GPU] },
    { kind: 'LimitRange', name: 'quota', namespace: 'team-a', resources: [] },
  ]);
  expect(extras.limits('team-c')).toEqual([]);

  await until(() => api.open.size === 2);
  api.send({ type: 'ADDED', object: quota('team-c', 11) });
  await until(() => extras.limits('team-c')?.length === 2);
  api.send({ type: 'DELETED', object: quota('team-a', 12) });
  await until(() => extras.limits('team-a')?.length === 0);
  expect(extras.limits('team-b')).toHaveLength(2);
});
