import type { IncomingMessage, ServerResponse } from 'node:http';
import { json } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { FakeApiServer, status } from '../../test/cluster/fake-api-server.ts';
import { takeCensus } from '../policy/census.ts';
import { isBroken } from '../policy/stored.ts';
import type { ApiClient } from './client.ts';
import { type ClusterPolicies, clusterPolicies } from './policies.ts';
import { keepStatus } from './policy-status.ts';

/** An API server of GpuPolicies, whose CRD may be missing, and whose objects have a status. */
class PolicyServer extends FakeApiServer {
  installed = true;
  readonly patches: { readonly name: string; readonly body: Record<string, unknown> }[] = [];
  /** What a PATCH is answered, in turn; undefined is 200. */
  readonly refusals: (number | undefined)[] = [];

  override answer(request: IncomingMessage, response: ServerResponse): void {
    const { pathname } = new URL(request.url ?? '', 'http://api');
    const [, name, part] =
      /^\/apis\/gpugate\.dev\/v1alpha1\/gpupolicies(?:\/([^/]+)(\/status)?)?$/.exec(pathname) ?? [];
    if (!this.installed) status(404)(undefined, response);
    else if (name && part) void this.patch(name, request, response);
    else if (name) this.get(name, response);
    else super.answer(request, response);
  }

  async patch(name: string, request: IncomingMessage, response: ServerResponse): Promise<void> {
    this.patches.push({ name, body: (await json(request)) as Record<string, unknown> });
    status(this.refusals.shift() ?? 200)(undefined, response);
  }

  change(type: string, object: object): void {
    this.resourceVersion += 1;
    const { metadata, ...rest } = object as { metadata: object };
    this.send({ type, object: { ...rest, metadata: { ...metadata, resourceVersion: String(this.resourceVersion) } } });
  }
}

const policy = (name: string, spec: unknown, more: object = {}) => ({
  apiVersion: 'gpugate.dev/v1alpha1',
  kind: 'GpuPolicy',
  metadata: { name, generation: 1, resourceVersion: '5' },
  spec,
  ...more,
});

let api: PolicyServer;
let client: ApiClient;
let policies: ClusterPolicies | undefined;
let writer: { close(): Promise<void> } | undefined;
const log = { info: vi.fn(), warn: vi.fn(), error: vi.fn() };
beforeEach(async () => {
  vi.clearAllMocks();
  api = new PolicyServer();
  client = await api.start();
});
afterEach(async () => {
  await writer?.close();
  await policies?.close();
  writer = policies = undefined;
  await client.close();
  await api.stop();
});

const until = (what: () => unknown) => vi.waitUntil(what, { timeout: 5000, interval: 5 });

function open(): ClusterPolicies {
  policies = clusterPolicies(client, {
    log: log as never,
    timing: { absentMs: 20, backoff: { firstMs: 5, maxMs: 20 } },
  });
  return policies;
}

async function opened(...objects: object[]): Promise<ClusterPolicies> {
  api.objects = objects;
  const source = open();
  await until(() => api.open.size === 1);
  return source;
}

describe('GpuPolicies of a cluster', () => {
  test('one that is not understood is carried as such', async () => {
    const source = await opened(policy('good', { mode: 'warn' }), policy('bad', { mode: 'strict' }));
    const set = source.current();
    expect([...set.keys()]).toEqual(['good', 'bad']);
    expect([...set.values()].map(isBroken)).toEqual([false, true]);
    expect(log.error).not.toHaveBeenCalled();
  });

  test('the set stays the same object while only a status changes', async () => {
    const source = await opened(policy('a', {}));
    const [set, stored] = [source.current(), source.stored()];
    api.change('MODIFIED', policy('a', {}, { status: { namespaces: 3 } }));
    await until(() => source.stored() !== stored);
    expect(source.current()).toBe(set);
    api.change('MODIFIED', policy('a', { mode: 'audit' }));
    await until(() => source.current() !== set);
    api.change('DELETED', policy('a', {}));
    await until(() => source.current().size === 0);
  });

  test('a missing CRD is no policies, said once, and is picked up when it comes and when it goes', async () => {
    api.installed = false;
    const source = open();
    expect(source.synced()).toBe(false);
    await until(() => source.synced());
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(log.warn).toHaveBeenCalledTimes(1);
    expect(log.warn.mock.calls[0]?.[1]).toContain('apply deploy/crd.yaml');
    expect(source.state()).toMatchObject({ failures: 0, objects: 0 });
    api.objects = [policy('a', {})];
    api.installed = true;
    await until(() => source.current().has('a'));
    await until(() => api.open.size === 1);
    api.installed = false;
    for (const response of api.open) response.end();
    await until(() => source.current().size === 0);
  });

  test('refresh reads one that the watch has not told of', async () => {
    const source = await opened();
    api.objects = [{ ...policy('new', {}), metadata: { name: 'new', resourceVersion: '11' } }];
    await Promise.all([source.refresh('new'), source.refresh('new'), source.refresh('none')]);
    expect([...source.current().keys()]).toEqual(['new']);
  });
});

describe('the status of GpuPolicies', () => {
  const namespaces = new Map([['team-a', { 'gpugate.dev/policy': 'a' }]]);
  const start = (source: ClusterPolicies, disputeMs = 60_000) => {
    const census = takeCensus(source.current(), namespaces);
    writer = keepStatus({
      policies: source,
      census: () => census,
      log: log as never,
      timing: { everyMs: 10, disputeMs },
    });
  };
  const ready = {
    type: 'Ready',
    status: 'True',
    reason: 'Understood',
    observedGeneration: 1,
    message: 'pods are judged by it',
  };
  const right = {
    observedGeneration: 1,
    namespaces: 1,
    namespaceNames: ['team-a'],
    conditions: [{ ...ready, lastTransitionTime: '2026-01-01T00:00:00Z' }],
  };

  test('is written where it differs, with the version that was read', async () => {
    start(await opened(policy('a', {}), policy('b', { mode: 'strict' })));
    await until(() => api.patches.length === 2);
    const [a, b] = api.patches;
    expect(a).toMatchObject({
      name: 'a',
      body: {
        metadata: { resourceVersion: '5' },
        status: { namespaces: 1, namespaceNames: ['team-a'], lastProblem: null, conditions: [ready] },
      },
    });
    expect(b).toMatchObject({
      name: 'b',
      body: {
        status: {
          namespaces: 0,
          namespaceNames: null,
          lastProblem: expect.stringContaining('spec.mode is '),
          conditions: [{ status: 'False', reason: 'NotUnderstood' }],
        },
      },
    });
  });

  test('is left alone where it is right, whenever its condition came to be', async () => {
    start(await opened(policy('a', {}, { status: right })));
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(api.patches).toEqual([]);
  });

  test('keeps the time of a condition that stays', async () => {
    start(await opened(policy('a', {}, { status: { ...right, namespaces: 7 } })));
    await until(() => api.patches.length === 1);
    expect(api.patches[0]?.body).toMatchObject({ status: { namespaces: 1, conditions: right.conditions } });
  });

  test('is not fought over with another replica that sees something else', async () => {
    const source = await opened(policy('a', {}));
    start(source);
    await until(() => api.patches.length === 1);
    for (const count of [2, 3]) {
      const stored = source.stored();
      api.change('MODIFIED', policy('a', {}, { status: { ...right, namespaces: count } }));
      await until(() => source.stored() !== stored);
    }
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(api.patches).toHaveLength(1);
    api.change('ADDED', policy('b', {}));
    await until(() => api.patches.length === 2);
    expect(api.patches[1]?.name).toBe('b');
  });

  test('a conflict is dropped, and tried again by what the watch brings', async () => {
    api.refusals.push(409);
    start(await opened(policy('a', {})));
    await until(() => api.patches.length === 1);
    api.change('MODIFIED', policy('a', { mode: 'warn' }));
    await until(() => api.patches.length === 2);
    expect(api.patches[1]?.body).toMatchObject({ metadata: { resourceVersion: '11' } });
    expect(log.warn).not.toHaveBeenCalled();
  });

  test('a failure is logged once and tried again', async () => {
    api.refusals.push(403, 403);
    start(await opened(policy('a', {})));
    await until(() => api.patches.length === 3);
    expect(log.warn).toHaveBeenCalledTimes(1);
  });
});
