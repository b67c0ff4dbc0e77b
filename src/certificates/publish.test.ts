import { pino } from 'pino';
import { Registry } from 'prom-client';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { FakeObjects } from '../../test/cluster/fake-objects.ts';
import type { ApiClient } from '../cluster/client.ts';
import { certificateMetrics } from './metrics.ts';
import { type Publisher, startPublisher } from './publish.ts';

const RESOURCE = 'mutatingwebhookconfigurations';

let api: FakeObjects;
let client: ApiClient;
let publisher: Publisher;
beforeEach(async () => {
  api = new FakeObjects();
  await api.start();
  client = await api.client();
  const metrics = certificateMetrics(new Registry());
  publisher = startPublisher({ client, name: 'gpugate', log: pino({ level: 'silent' }), metrics, onChange: () => {} });
});
afterEach(async () => {
  await Promise.all(publisher.watches.map((watch) => watch.close()));
  await client.close();
  await api.stop();
});

/** Publishes into the configuration as it stood at a version; whether that counted as a race, or the reason why not. */
async function publishAt(resourceVersion: string): Promise<string> {
  const seen = [{ resource: RESOURCE, view: { resourceVersion, bundles: [''] } }];
  return publisher
    .publish(seen, 'the bundle', () => AbortSignal.timeout(10_000))
    .then(
      () => 'a race',
      (error: Error) => error.message,
    );
}

test.each([404, 409, 422])(
  'refused with %i, three times is a race and more often somebody means it',
  async (status) => {
    api.refuse = (method) => method === 'PATCH' && { status, message: 'no' };
    const said: string[] = [];
    for (let count = 0; count < 5; count += 1) said.push(await publishAt('7'));
    expect(said).toEqual(['a race', 'a race', 'a race', 'no', 'no']);
  },
);

test('a configuration that has changed meanwhile may be refused anew', async () => {
  api.refuse = (method) => method === 'PATCH' && { status: 422, message: 'no' };
  const said: string[] = [];
  for (const version of ['7', '7', '7', '8', '8', '8', '8']) said.push(await publishAt(version));
  expect(said).toEqual(['a race', 'a race', 'a race', 'a race', 'a race', 'a race', 'no']);
});

test.each([400, 403, 500])('refused with %i, it is no race', async (status) => {
  api.refuse = (method) => method === 'PATCH' && { status, message: 'no' };
  expect(await publishAt('7')).toBe('no');
});
