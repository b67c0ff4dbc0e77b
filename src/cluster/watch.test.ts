import type { ServerResponse } from 'node:http';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { cut, FakeApiServer, namespace, status } from '../../test/cluster/fake-api-server.ts';
import type { ApiClient } from './client.ts';
import type { KubernetesObject } from './store.ts';
import { startWatch, type Watch, type WatchOptions } from './watch.ts';

let api: FakeApiServer;
let client: ApiClient;
let watches: Watch<string>[];
const log = { info: vi.fn(), warn: vi.fn(), error: vi.fn() };

beforeEach(async () => {
  api = new FakeApiServer();
  client = await api.start();
  watches = [];
  vi.clearAllMocks();
});
afterEach(async () => {
  await Promise.all(watches.map((watch) => watch.close()));
  await client.close();
  await api.stop();
});

function start(options: Partial<WatchOptions<string>> = {}): Watch<string> {
  const watch = startWatch(client, {
    resource: 'namespaces',
    path: '/api/v1/namespaces',
    log: log as unknown as WatchOptions<string>['log'],
    reduce: (object) => object.metadata?.labels?.team ?? 'none',
    timing: { backoff: { firstMs: 5, maxMs: 40 }, healthyMs: 200 },
    ...options,
  });
  watches.push(watch);
  return watch;
}

const until = (what: () => unknown) => vi.waitUntil(what, { timeout: 5000, interval: 5 });
const watching = () => until(() => api.open.size === 1);

describe('list and watch', () => {
  test('a list of several pages is followed by a watch from its version', async () => {
    api.objects = ['a', 'b', 'c', 'd', 'e'].map((name) => namespace(name));
    const watch = start();
    expect(watch.state()).toMatchObject({ synced: false, lastEventAt: undefined });
    await watching();
    expect(watch.state()).toMatchObject({ synced: true, objects: 5, lists: 1, failures: 0 });
    expect(api.lists.map((url) => url.searchParams.get('continue'))).toEqual([null, '2', '4']);
    expect(api.watches[0]?.searchParams.get('resourceVersion')).toBe('10');
    expect(api.watches[0]?.searchParams.get('allowWatchBookmarks')).toBe('true');
  });

  test('events change what is in memory, and handlers are told', async () => {
    const changes: [string, string | undefined][] = [];
    api.objects = [namespace('a')];
    const watch = start({ onChange: (key, value) => changes.push([key, value]) });
    await watching();
    api.event('ADDED', 'b', { team: 'blue' });
    api.event('MODIFIED', 'a', { team: 'red' });
    api.event('MODIFIED', 'a', { team: 'red', other: 'label' });
    api.event('DELETED', 'b');
    await until(() => changes.length === 4);
    expect(changes).toEqual([
      ['a', 'none'],
      ['b', 'blue'],
      ['a', 'red'],
      ['b', undefined],
    ]);
    expect(watch.get('a')).toBe('red');
    expect(watch.get('b')).toBeUndefined();
  });

  test('a watch that ends is resumed from the last bookmark, without a list', async () => {
    start();
    await watching();
    api.send({ type: 'BOOKMARK', object: { metadata: { resourceVersion: '77' } } });
    for (const response of api.open) response.end();
    await until(() => api.watches.length === 2);
    expect(api.watches[1]?.searchParams.get('resourceVersion')).toBe('77');
    expect(api.lists).toHaveLength(1);
  });
});

describe('what an API server does to a watch', () => {
  test('an event split over packets, in the middle of a letter, is one event', async () => {
    const watch = start();
    await watching();
    const bytes = Buffer.from(`${JSON.stringify({ type: 'ADDED', object: namespace('a', { team: 'é' }, 11) })}\n`);
    const middle = bytes.indexOf(0xc3) + 1;
    for (const response of api.open) {
      response.write(bytes.subarray(0, middle));
      setTimeout(() => response.write(bytes.subarray(middle)), 30);
    }
    await until(() => watch.get('a') === 'é');
  });

  test('a cut connection, in the middle of an event too, is resumed from the last version', async () => {
    const watch = start();
    await watching();
    api.event('ADDED', 'a', { team: 'blue' });
    await until(() => watch.get('a'));
    for (const response of api.open) response.write('{"type":"ADDED","object":{"meta');
    await new Promise((resolve) => setTimeout(resolve, 20));
    for (const response of api.open) response.destroy();
    await until(() => api.watches.length === 2);
    expect(api.watches[1]?.searchParams.get('resourceVersion')).toBe('11');
    expect(api.lists).toHaveLength(1);
    expect(watch.get('a')).toBe('blue');
  });

  const forgotten: readonly [string, () => void][] = [
    ['410 as an event', () => api.send({ type: 'ERROR', object: { code: 410, message: 'too old resource version' } })],
    [
      '410 as an answer',
      () => {
        api.faults.push(status(410));
        for (const response of api.open) response.end();
      },
    ],
    ['a line that is not JSON', () => api.send('{"type":"MODIF')],
    ['a line that is no event', () => api.send('null')],
    ['an event of an unknown type', () => api.send({ type: 'MOVED', object: namespace('a') })],
  ];
  test.each(forgotten)('%s: all is listed again, and what went meanwhile is gone', async (_name, happen) => {
    api.objects = [namespace('a'), namespace('b')];
    const watch = start();
    await watching();
    api.objects = [namespace('b', { team: 'new' }, 12)];
    happen();
    await until(() => api.lists.length === 2 && watch.get('b') === 'new');
    expect(watch.get('a')).toBeUndefined();
    expect(watch.state()).toMatchObject({ synced: true, lists: 2 });
  });

  test('500s, 429s and cut connections during the first list: it goes on, and is synced in the end', async () => {
    api.faults.push(status(500), cut, status(429), status(403), cut, cut);
    const watch = start();
    await watching();
    expect(watch.state().synced).toBe(true);
    expect(watch.state().failures).toBeGreaterThanOrEqual(4);
    expect(log.warn).toHaveBeenCalledWith(expect.objectContaining({ reason: 'refused with 500' }), expect.anything());
  });

  test('Retry-After is waited for', async () => {
    api.faults.push(status(429, { 'retry-after': '1' }));
    const started = Date.now();
    start();
    await watching();
    expect(Date.now() - started).toBeGreaterThan(950);
  });

  test('a server that ends every watch at once is not stormed', async () => {
    const end = (_url: unknown, response: ServerResponse) => {
      response.writeHead(200).end();
    };
    api.faults.push(undefined, ...Array.from({ length: 500 }, () => end));
    start();
    await new Promise((resolve) => setTimeout(resolve, 500));
    // Delays of 5, 10, 20, then 40 ms less up to one half: at most some 25 in half a second.
    expect(api.watches.length).toBeGreaterThan(5);
    expect(api.watches.length).toBeLessThan(40);
  });

  test('a version that is refused again and again in another way than 410 is given up for a list', async () => {
    api.faults.push(undefined, ...Array.from({ length: 6 }, () => status(504)));
    start();
    await watching();
    expect(api.lists).toHaveLength(2);
  });

  test('versions that run backwards after a restore of etcd are taken as they come', async () => {
    api.objects = [namespace('a', { team: 'late' }, 900)];
    api.resourceVersion = 1000;
    const watch = start();
    await watching();
    api.objects = [namespace('a', { team: 'early' }, 3)];
    api.resourceVersion = 4;
    api.send({ type: 'ERROR', object: { code: 410, message: 'too old' } });
    await until(() => watch.get('a') === 'early');
  });

  test('a connection that falls silent is given up', async () => {
    start({ timing: { backoff: { firstMs: 5, maxMs: 40 }, silenceMs: 80 } });
    await watching();
    await until(() => api.watches.length >= 3);
    expect(log.warn).toHaveBeenCalledWith(expect.objectContaining({ reason: 'silent for 0.08 s' }), expect.anything());
    expect(api.mostOpen).toBe(1);
  });

  test('all is listed afresh from time to time, though nothing went wrong', async () => {
    const timing = { backoff: { firstMs: 5, maxMs: 40 }, healthyMs: 0, relistMs: 50, silenceMs: 60 };
    const watch = start({ timing });
    await until(() => watch.state().lists >= 3);
  });
});

describe('our own mistakes', () => {
  test('a handler that throws is logged and counted, and the watch goes on', async () => {
    const onChange = () => {
      throw new Error('a bug');
    };
    const watch = start({ onChange });
    await watching();
    api.event('ADDED', 'a', { team: 'x' });
    api.event('ADDED', 'b', { team: 'y' });
    await until(() => watch.get('b') === 'y');
    expect(watch.get('a')).toBe('x');
    expect(watch.state()).toMatchObject({ faults: 2, failures: 0 });
    expect(log.error).toHaveBeenCalledTimes(2);
    expect(api.watches).toHaveLength(1);
  });

  test('an object that cannot be read keeps its last good state, in events and lists', async () => {
    const reduce = ({ metadata }: KubernetesObject) => {
      if (metadata?.labels?.team === 'bad') throw new Error('bad');
      return metadata?.labels?.team ?? 'none';
    };
    api.objects = [namespace('a', { team: 'good' })];
    const watch = start({ reduce });
    await watching();
    api.event('MODIFIED', 'a', { team: 'bad' });
    api.objects = [namespace('a', { team: 'bad' }), namespace('b', { team: 'fine' })];
    api.send('garbage');
    await until(() => watch.get('b') === 'fine');
    expect(watch.get('a')).toBe('good');
    expect(watch.state().faults).toBe(2);
  });

  test('close ends the request, and nothing is asked after it', async () => {
    const watch = start();
    await watching();
    await watch.close();
    await until(() => api.open.size === 0);
    const asked = api.watches.length;
    await new Promise((resolve) => setTimeout(resolve, 60));
    expect(api.watches).toHaveLength(asked);
    expect(api.mostOpen).toBe(1);
  });
});
