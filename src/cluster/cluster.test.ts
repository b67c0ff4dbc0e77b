import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { cut, FakeApiServer, namespace, status } from '../../test/cluster/fake-api-server.ts';
import type { ApiClient } from './client.ts';
import { clusterSource } from './cluster.ts';
import type { ClusterSource } from './source.ts';

let api: FakeApiServer;
let client: ApiClient;
let opened: ClusterSource | undefined;
beforeEach(async () => {
  api = new FakeApiServer();
  client = await api.start();
});
afterEach(async () => {
  await opened?.close();
  await api.stop();
});

const until = (what: () => unknown) => vi.waitUntil(what, { timeout: 5000, interval: 5 });

/** A source whose watch of namespaces is open. */
async function open(): Promise<ClusterSource> {
  const log = { info: vi.fn(), warn: vi.fn(), error: vi.fn() };
  opened = clusterSource(client, { log: log as never, watchNodes: false });
  await until(() => api.open.size === 1);
  return opened;
}

describe('namespaces of a cluster', () => {
  test('a known one costs no request; a new one costs one GET, shared by all who ask, and is known from then on', async () => {
    api.objects = [namespace('old', { team: 'a' })];
    const source = await open();
    expect(await source.namespaceLabels('old')).toEqual({ found: true, labels: { team: 'a' } });
    expect(api.gets).toEqual([]);
    api.objects.push(namespace('new', { team: 'b' }, 11));
    const answers = await Promise.all([source.namespaceLabels('new'), source.namespaceLabels('new')]);
    expect(answers).toEqual(Array(2).fill({ found: true, labels: { team: 'b' } }));
    expect(source.known('new')).toEqual({ team: 'b' });
    expect(api.gets).toEqual(['new']);
  });

  test('what was read ahead is not undone by older events of the watch', async () => {
    const source = await open();
    api.objects = [namespace('a', { team: 'second' }, 13)];
    await source.namespaceLabels('a');
    api.send({ type: 'ADDED', object: namespace('a', { team: 'first' }, 12) });
    api.send({ type: 'ADDED', object: namespace('b', {}, 14) });
    await until(() => source.known('b'));
    expect(source.known('a')).toEqual({ team: 'second' });
    api.send({ type: 'DELETED', object: namespace('a', { team: 'second' }, 15) });
    await until(() => source.known('a') === undefined);
  });

  test('refresh reads a known one again', async () => {
    api.objects = [namespace('a', { team: 'old' })];
    const source = await open();
    api.objects = [namespace('a', { team: 'new' }, 11)];
    expect(await source.namespaceLabels('a', { refresh: true })).toEqual({ found: true, labels: { team: 'new' } });
    expect(source.known('a')).toEqual({ team: 'new' });
  });

  test('one that does not exist, one that is forbidden and one that does not answer are told apart', async () => {
    const source = await open();
    expect(await source.namespaceLabels('none')).toEqual({ found: false });
    api.faults.push(status(403));
    expect(await source.namespaceLabels('secret')).toEqual({ found: 'unknown', reason: 'refused with 403' });
    api.faults.push(() => {});
    const started = Date.now();
    expect(await source.namespaceLabels('slow', { timeoutMs: 50 })).toEqual({
      found: 'unknown',
      reason: 'the API server did not answer within 50 ms',
    });
    expect(Date.now() - started).toBeLessThan(500);
  });

  test('a GET over a connection that died idle is made once more', async () => {
    api.objects = [namespace('a', { team: 'x' }, 11)];
    const source = await open();
    api.objects = [namespace('b', { team: 'y' }, 12)];
    api.faults.push(cut);
    expect(await source.namespaceLabels('b')).toEqual({ found: true, labels: { team: 'y' } });
  });
});
