import type { IncomingMessage, ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { FakeApiServer, status } from '../../test/cluster/fake-api-server.ts';
import type { ApiClient } from './client.ts';
import { clusterExtras } from './extras.ts';

const GPU = 'requests.nvidia.com/gpu';
const SERVED_BY_DRA = 'nvidia.com/gpu';

/** An API server that may be too old for DeviceClasses. */
class OldServer extends FakeApiServer {
  hasDeviceClasses = true;
  refused = 0;

  override answer(request: IncomingMessage, response: ServerResponse): void {
    const { pathname } = new URL(request.url ?? '', 'http://api');
    const lacks = !this.hasDeviceClasses && pathname === '/apis/resource.k8s.io/v1/deviceclasses';
    if (lacks) this.refused += 1;
    if (lacks) status(404)(undefined, response);
    else super.answer(request, response);
  }
}

let api: OldServer;
const log = { info: vi.fn(), warn: vi.fn(), error: vi.fn() };
let client: ApiClient;
let extras: ReturnType<typeof clusterExtras>;
beforeEach(async () => {
  vi.clearAllMocks();
  api = new OldServer();
  client = await api.start();
  extras = clusterExtras(client, { log, timing: { absentMs: 20, backoff: { firstMs: 5, maxMs: 20 } } });
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

it('a cluster before 1.34 has no DeviceClass, which is said once and is no failure; they are noticed when they come', async () => {
  api.hasDeviceClasses = false;
  expect(extras.deviceClassResources()).toBeUndefined();
  await until(() => extras.deviceClassResources() !== undefined);
  expect(extras.deviceClassResources()).toEqual(new Set());
  await until(() => api.refused > 2);
  expect(extras.states()).toMatchObject([{ resource: 'deviceclasses', synced: true, failures: 0, objects: 0 }]);
  expect(log.warn).toHaveBeenCalledTimes(1);

  const spec = { extendedResourceName: SERVED_BY_DRA };
  const whole = { metadata: { name: 'whole', resourceVersion: '5' }, spec };
  api.objects = [whole];
  api.hasDeviceClasses = true;
  await until(() => extras.deviceClassResources()?.has(SERVED_BY_DRA) === true);
});
