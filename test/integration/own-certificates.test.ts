import { X509Certificate } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { pino } from 'pino';
import { Registry } from 'prom-client';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { issue } from '../../src/certificates/issue.ts';
import { type Kept, keepCertificates } from '../../src/certificates/keep.ts';
import { certificateMetrics } from '../../src/certificates/metrics.ts';
import type { Pair } from '../../src/certificates/pair.ts';
import { makeAuthority, makeLeaf } from '../../src/certificates/sign.ts';
import { termsFor } from '../../src/certificates/terms.ts';
import { readCertificates } from '../../src/certificates/x509.ts';
import { FakeObjects } from '../cluster/fake-objects.ts';
import { lagging } from '../cluster/proxies.ts';
import { startReplica } from '../cluster/replica.ts';

const SECRETS = '/api/v1/namespaces/gpugate/secrets';
const SECRET = `${SECRETS}/gpugate-certificates`;
const ADMISSION = '/apis/admissionregistration.k8s.io/v1';
const MUTATING = `${ADMISSION}/mutatingwebhookconfigurations/gpugate`;
const VALIDATING = `${ADMISSION}/validatingwebhookconfigurations/gpugate`;
const CONFIGURATIONS = [MUTATING, VALIDATING];
const DAY = 24 * 3600 * 1000;

interface Replica {
  readonly kept: Kept;
  /** What it served, in turn. */
  readonly pairs: Pair[];
  readonly registry: Registry;
}

let api: FakeObjects;
let lines: Record<string, unknown>[];
let replicas: Replica[];
beforeEach(async () => {
  api = new FakeObjects();
  await api.start();
  lines = [];
  replicas = [];
});
afterEach(async () => {
  await Promise.all(replicas.map(({ kept }) => kept.close()));
  await api.stop();
});

/** Starts a replica; leaves live for a minute unless told otherwise, so a new CA is served after 6 s and rotated away after 30. */
async function start(lifeMs = 60_000, port?: number, onServed?: () => void): Promise<Replica> {
  const gather = new Writable({
    write(chunk: Buffer, _encoding, done) {
      lines.push(JSON.parse(chunk.toString()));
      done();
    },
  });
  const pairs: Pair[] = [];
  const registry = new Registry();
  const kept = keepCertificates({
    client: await api.client(port),
    secret: { namespace: 'gpugate', name: 'gpugate-certificates' },
    configurations: 'gpugate',
    names: ['gpugate.gpugate.svc'],
    terms: termsFor(lifeMs),
    log: pino({ base: null }, gather),
    metrics: certificateMetrics(registry),
    onPair: (pair) => {
      pairs.push(pair);
      onServed?.();
    },
  });
  const replica = { kept, pairs, registry };
  replicas.push(replica);
  return replica;
}

function register(): void {
  for (const path of CONFIGURATIONS) {
    const webhook = (name: string) => ({ name, clientConfig: { url: 'https://x' }, failurePolicy: 'Fail' });
    api.put(path, { metadata: { name: 'gpugate' }, webhooks: [webhook('a'), webhook('b')] });
  }
}

async function until(isSo: () => boolean): Promise<void> {
  const deadline = Date.now() + 25_000;
  while (!isSo()) {
    if (Date.now() > deadline)
      throw new Error(
        `not so: ${isSo}\n${lines
          .slice(-20)
          .map((line) => JSON.stringify(line))
          .join('\n')}`,
      );
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

const decoded = (text = '') => Buffer.from(text, 'base64').toString();
const data = (): Record<string, string> => (api.objects.get(SECRET)?.data ?? {}) as Record<string, string>;
const held = (key: string) => decoded(data()[key]);
const bundles = () =>
  CONFIGURATIONS.flatMap((path) => {
    const { webhooks = [] } = (api.objects.get(path) ?? {}) as { webhooks?: { clientConfig: { caBundle?: string } }[] };
    return webhooks.map(({ clientConfig }) => decoded(clientConfig.caBundle));
  });
const isPublished = () => held('ca-bundle.crt') !== '' && bundles().every((each) => each === held('ca-bundle.crt'));
const areReady = () => replicas.every(({ kept }) => kept.problem() === undefined);
const edit = (change: Record<string, string>, more: object = {}) => {
  const before = api.objects.get(SECRET);
  if (before) api.put(SECRET, { ...before, ...more, data: { ...data(), ...change } });
};
/** Asks for a new CA. */
const ask = () => {
  const metadata = api.objects.get(SECRET)?.metadata;
  edit({}, { metadata: { ...metadata, annotations: { ...metadata?.annotations, 'gpugate.dev/renew': 'ca' } } });
};
const base64 = (text: string) => Buffer.from(text).toString('base64');

describe('certificates in a Secret', () => {
  it('are made, published in both configurations, and served; then nothing more is written', async () => {
    register();
    const { pairs } = await start();
    await until(areReady);
    expect(Object.keys(data()).sort()).toEqual(['ca-bundle.crt', 'ca.crt', 'ca.key', 'tls.crt', 'tls.key']);
    expect(new X509Certificate(held('tls.crt')).verify(new X509Certificate(held('ca.crt')).publicKey)).toBe(true);
    expect(pairs.map(({ certificate }) => certificate)).toEqual([held('tls.crt')]);
    expect(isPublished()).toBe(true);
    const writes = () => api.requests.filter((line) => !line.startsWith('GET'));
    expect(writes()).toEqual([`POST ${SECRETS}`, `PATCH ${MUTATING}`, `PATCH ${VALIDATING}`]);
  });

  it('of two replicas that start at once are the same', async () => {
    register();
    const [one, two] = await Promise.all([start(), start()]);
    await until(areReady);
    expect(one.pairs.at(-1)?.certificate).toBe(held('tls.crt'));
    expect(two.pairs.at(-1)?.certificate).toBe(held('tls.crt'));
    expect(lines.filter(({ msg }) => msg === 'certificates cannot be kept up')).toEqual([]);
  });

  it('are published in nothing else than caBundle', async () => {
    register();
    await start();
    await until(areReady);
    for (const path of CONFIGURATIONS) {
      const caBundle = data()['ca-bundle.crt'];
      const webhook = (name: string) => ({ name, clientConfig: { url: 'https://x', caBundle }, failurePolicy: 'Fail' });
      expect(api.objects.get(path)).toEqual({
        metadata: { name: 'gpugate', resourceVersion: expect.any(String) },
        webhooks: [webhook('a'), webhook('b')],
      });
    }
  });

  it('are served before there is any configuration, and published when one comes', async () => {
    await start();
    await until(areReady);
    register();
    await until(isPublished);
  });

  it('are put back into a configuration that someone blanked', async () => {
    register();
    await start();
    await until(areReady);
    register();
    await until(isPublished);
  });

  it('fill an empty Secret that was made beforehand, and leave its own keys and labels', async () => {
    api.put(SECRET, {
      metadata: { name: 'gpugate-certificates', labels: { team: 'gpu' } },
      type: 'Opaque',
      data: { note: 'aGk=' },
    });
    await start();
    await until(areReady);
    expect(held('note')).toBe('hi');
    expect(api.objects.get(SECRET)).toMatchObject({ metadata: { labels: { team: 'gpu' } }, type: 'Opaque' });
  });

  it('stay the same when the Secret is deleted', async () => {
    register();
    const { pairs } = await start();
    await until(areReady);
    const before = data();
    api.put(SECRET, undefined);
    await until(() => api.objects.has(SECRET));
    expect(data()).toEqual(before);
    expect(pairs).toHaveLength(1);
  });

  it.each<[string, () => Promise<Record<string, string>> | Record<string, string>]>([
    ['nonsense', () => ({ 'tls.crt': base64('nonsense'), 'ca.key': 'not even base64!' })],
    ['half a certificate', () => ({ 'tls.crt': base64(held('tls.crt').slice(0, 200)) })],
    ['the key of another certificate', async () => ({ 'tls.key': base64((await issue(new Date())).key) })],
    ['nothing', () => ({ 'ca.crt': '', 'ca.key': '', 'tls.crt': '', 'tls.key': '', 'ca-bundle.crt': '' })],
  ])(
    'are mended when someone writes %s into the Secret, and the last good pair is served all the while',
    async (_, spoil) => {
      register();
      const { pairs, registry } = await start();
      await until(areReady);
      const before = data();
      edit(await spoil());
      await until(() => JSON.stringify(data()) === JSON.stringify(before));
      expect(pairs).toHaveLength(1);
      expect(isPublished()).toBe(true);
      if (_ === 'nothing') return;
      expect(await registry.getSingleMetricAsString('gpugate_certificate_secret_faults_total')).toMatch(/ 1$/);
      expect(lines.find(({ faults }) => faults)).toMatchObject({ level: 50, faults: expect.any(Array) });
    },
  );

  it('are mended by one of two replicas where both see the same fault', async () => {
    register();
    await Promise.all([start(), start()]);
    await until(areReady);
    const before = data();
    for (let round = 0; round < 5; round += 1) {
      edit({ 'tls.key': base64('nonsense') });
      await until(() => JSON.stringify(data()) === JSON.stringify(before));
    }
    expect(areReady()).toBe(true);
    expect(lines.filter(({ msg }) => msg === 'certificates cannot be kept up')).toEqual([]);
  });

  it('never reach the log with their keys', async () => {
    register();
    await start();
    await until(areReady);
    const keys = [held('tls.key'), held('ca.key')].map((key) => key.split('\n')[1] ?? '');
    edit({ 'tls.key': base64(`torn ${held('ca.key')}`), 'ca.key': base64('nonsense') });
    await until(() => lines.some(({ faults }) => faults));
    const logged = JSON.stringify(lines);
    for (const key of keys) {
      expect(key).toHaveLength(64);
      expect(logged).not.toContain(key);
    }
  });
});

describe('a new CA', () => {
  it('is published beside the old one before its leaf is served, and the old one goes when the overlap is over', async () => {
    register();
    const { pairs } = await start(10_000);
    await until(areReady);
    const old = held('ca.crt');
    ask();
    await until(() => held('ca.crt') !== old);
    const next = held('ca.crt');
    expect(held('ca-bundle.crt')).toBe(next + old);
    expect(new X509Certificate(held('tls.crt')).verify(new X509Certificate(old).publicKey)).toBe(true);

    const signed = (pair: Pair | undefined, ca: string) =>
      pair?.leaf.verify(new X509Certificate(ca).publicKey) === true;
    expect(pairs.at(-1)?.authority?.toString()).toBe(old);
    await until(() => signed(pairs.at(-1), next));
    expect(pairs.at(-1)?.authority?.toString()).toBe(next);
    expect(bundles().every((each) => each.includes(next) && each.includes(old))).toBe(true);

    await until(() => isPublished() && held('ca-bundle.crt') === next);
    expect(api.objects.get(SECRET)?.metadata.annotations).toEqual({});
  });

  it('that was asked for since the old one is not to be trusted leaves it when that is taken out by hand', async () => {
    register();
    const { pairs } = await start(60_000);
    await until(areReady);
    const old = held('ca.crt');
    ask();
    await until(() => pairs.at(-1)?.leaf.verify(new X509Certificate(old).publicKey) === false);
    edit({ 'ca-bundle.crt': data()['ca.crt'] ?? '' });
    await until(() => isPublished() && held('ca-bundle.crt') === held('ca.crt'));
    const asked = api.requests.length;
    edit({});
    await until(() => api.requests.length > asked);
    expect(held('ca-bundle.crt')).toBe(held('ca.crt'));
  });

  it('is not served while it cannot be published, and the old leaf is', async () => {
    register();
    const { pairs, registry } = await start(10_000);
    await until(areReady);
    const old = held('ca.crt');
    api.refuse = (method, path) => method === 'PATCH' && path === VALIDATING;
    ask();
    await until(() => held('ca.crt') !== old && bundles()[0]?.includes(held('ca.crt')) === true);
    await until(() => lines.some(({ reason }) => /database space exceeded/.test(String(reason))));
    expect(pairs.at(-1)?.leaf.verify(new X509Certificate(old).publicKey)).toBe(true);
    expect(await registry.getSingleMetricAsString('gpugate_ca_bundle_in_step')).toContain(
      'gpugate_ca_bundle_in_step{resource="validatingwebhookconfigurations"} 0',
    );
    api.refuse = undefined;
    await until(isPublished);
    await until(() => pairs.at(-1)?.leaf.verify(new X509Certificate(held('ca.crt')).publicKey) === true);
  });
});

describe('a caBundle that is refused', () => {
  const writes = async (registry: Registry, resource: string, result: string) => {
    const text = await registry.getSingleMetricAsString('gpugate_ca_bundle_writes_total');
    return Number(text.split(`{resource="${resource}",result="${result}"} `)[1]?.split('\n')[0] ?? 0);
  };

  it('again and again, though nothing has changed, is told, and keeps the other configuration from nothing', async () => {
    register();
    const message = 'admission webhook "changes.example.com" denied the request: frozen';
    api.refuse = (method, path) => method === 'PATCH' && path === MUTATING && { status: 422, message };
    const { kept, registry } = await start();
    await until(() => lines.some(({ reason }) => reason === message));
    expect(kept.problem()).toBe(message);
    expect(await writes(registry, 'mutatingwebhookconfigurations', 'conflict')).toBe(3);
    expect(await writes(registry, 'mutatingwebhookconfigurations', 'failure')).toBeGreaterThan(0);
    expect(await writes(registry, 'validatingwebhookconfigurations', 'success')).toBe(1);
    expect(bundles().map((each) => each === held('ca-bundle.crt'))).toEqual([false, false, true, true]);
    api.refuse = undefined;
    await until(areReady);
    expect(isPublished()).toBe(true);
  });
});

describe('a Secret of a backup', () => {
  it('is taken over once its CA is published, and until then what was served is', async () => {
    register();
    const { pairs } = await start(10_000);
    await until(areReady);
    const old = new X509Certificate(held('ca.crt'));
    const validity = { notBefore: new Date(Date.now() - DAY), notAfter: new Date(Date.now() + DAY) };
    const authority = await makeAuthority('gpugate CA 0123456789abcdef', validity);
    const leaf = await makeLeaf(authority, { dns: ['gpugate.gpugate.svc'] }, validity);
    const ca = new X509Certificate(authority.certificate);

    api.refuse = (method, path) => method === 'PATCH' && path === VALIDATING;
    edit({
      'ca.crt': base64(authority.certificate),
      'ca.key': base64(authority.key),
      'tls.crt': base64(leaf.certificate),
      'tls.key': base64(leaf.key),
      'ca-bundle.crt': base64(authority.certificate),
    });
    await until(() => readCertificates(bundles()[0] ?? '').some((each) => each.raw.equals(ca.raw)));
    await until(() => lines.some(({ reason }) => /database space exceeded/.test(String(reason))));
    expect(readCertificates(held('ca-bundle.crt')).map(({ subject }) => subject)).toEqual([ca.subject, old.subject]);
    expect(pairs.at(-1)?.leaf.verify(old.publicKey)).toBe(true);

    api.refuse = undefined;
    await until(() => pairs.at(-1)?.leaf.verify(ca.publicKey) === true);
    expect(isPublished()).toBe(true);
  });
});

describe('replicas, one of which sees the cluster as it was 300 ms ago', () => {
  it('never serve what is not trusted, through rotations, blanked configurations and a spoilt Secret', async () => {
    const late = await lagging(api.port, 300);
    const wrong: string[] = [];
    let blanked = true;
    const check = (when: string) => {
      if (blanked) return;
      for (const { pairs } of replicas) {
        const leaf = pairs.at(-1)?.leaf;
        for (const bundle of bundles()) {
          const trusted = leaf === undefined || readCertificates(bundle).some((ca) => leaf.verify(ca.publicKey));
          if (!trusted) wrong.push(`${when}: the CA of ${leaf?.serialNumber} is not trusted`);
        }
      }
    };
    register();
    await start(10_000, undefined, () => check('one serves'));
    await start(10_000, late.port, () => check('two serves'));
    await until(areReady);
    await until(isPublished);
    blanked = false;
    api.onPut = (path) => check(`after a write of ${path}`);
    const cas = new Set<string>();
    for (let round = 0; cas.size < 4; round += 1) {
      ask();
      cas.add(held('ca.crt'));
      await new Promise((resolve) => setTimeout(resolve, 700));
      if (round % 4 === 1) edit({ 'tls.key': base64('nonsense') });
      if (round % 10 === 9) {
        blanked = true;
        register();
        // Both may publish the same, and what is blank now is not our doing.
        await until(isPublished);
        blanked = false;
      }
    }
    api.onPut = undefined;
    expect(wrong).toEqual([]);
    await late.close();
  }, 120_000);
});

describe('the clock', () => {
  it('is that of the API server: certificates that have expired by it are renewed at once', async () => {
    register();
    await start();
    await until(areReady);
    const before = held('tls.crt');
    api.now = () => new Date(Date.now() + 400 * DAY);
    edit({});
    await until(() => held('tls.crt') !== before && isPublished());
    const leaf = new X509Certificate(held('tls.crt'));
    expect(leaf.validToDate.getTime()).toBeGreaterThan(Date.now() + 399 * DAY);

    // And once more when the clock goes back: the leaf of the future is not valid now.
    api.now = () => new Date();
    edit({});
    await until(() => new X509Certificate(held('tls.crt')).validFromDate.getTime() < Date.now() && isPublished());
  });

  it('that is far behind makes nothing, and is complained of', async () => {
    register();
    const { pairs } = await start();
    await until(areReady);
    const before = data();
    api.now = () => new Date(0);
    edit({});
    await until(() => lines.some(({ reason }) => /set it right/.test(String(reason))));
    expect(data()).toEqual(before);
    expect(pairs).toHaveLength(1);
  });
});

describe('while the API server takes no writes', () => {
  it('a replica makes a leaf for itself before its own expires, under the CA that all trust', async () => {
    register();
    const { pairs } = await start(10_000);
    await until(areReady);
    api.refuse = (method) => method !== 'GET';
    const ca = new X509Certificate(held('ca.crt'));
    const first = pairs.at(-1);
    await until(() => pairs.at(-1) !== first);
    const alone = pairs.at(-1);
    expect(alone?.leaf.verify(ca.publicKey)).toBe(true);
    expect(alone?.certificate).not.toBe(held('tls.crt'));
    api.refuse = undefined;
    await until(() => pairs.at(-1)?.certificate === held('tls.crt'));
  });

  it('signs one that ends with its CA once, since no other would live longer', async () => {
    register();
    const { pairs } = await start(10_000);
    await until(areReady);
    const { validToDate } = new X509Certificate(held('ca.crt'));
    api.refuse = (method) => method !== 'GET';
    api.now = () => new Date(validToDate.getTime() - 1000);
    edit({});
    await until(() => pairs.at(-1)?.notAfter.getTime() === validToDate.getTime());
    const alone = pairs.at(-1);
    const tries = () => api.requests.filter((line) => line === `GET ${SECRET}`).length;
    const before = tries();
    await until(() => {
      edit({});
      return tries() > before + 3;
    });
    expect(pairs.at(-1)).toBe(alone);
  });
});

describe('readiness', () => {
  it('waits for the first pair, and says why there is none', async () => {
    api.refuse = () => true;
    const { kept } = await start();
    await until(() => /database space exceeded/.test(kept.problem() ?? ''));
    api.refuse = undefined;
    await until(areReady);
  });

  it('waits for caBundle of a configuration that is there, but only for the first time', async () => {
    register();
    api.refuse = (method, path) => method === 'PATCH' && path === MUTATING;
    const { kept, pairs } = await start();
    await until(() => pairs.length > 0 && kept.problem() !== 'waiting for the Secret');
    expect(kept.problem()).toBeDefined();
    api.refuse = undefined;
    await until(areReady);
    api.refuse = () => true;
    register();
    await until(() => lines.some(({ msg }) => msg === 'certificates cannot be kept up'));
    expect(kept.problem()).toBeUndefined();
  });
});

describe('gpugate serve --cert-secret', () => {
  it('listens though the API server is away, live but not ready, and gets its certificate when it is back', async () => {
    const dir = await mkdtemp(join(tmpdir(), 'gpugate-'));
    register();
    api.refuse = () => true;
    const replica = await startReplica({ dir, kubeconfig: await api.kubeconfig(dir) }, 'one', []);
    const get = async (path: string) => {
      const reply = await fetch(`${replica.metricsUrl}${path}`);
      return { status: reply.status, text: await reply.text() };
    };
    await until(() => replica.log().some(({ msg }) => msg === 'listening'));
    expect((await get('/livez')).status).toBe(200);
    const { status, text } = await get('/readyz');
    expect(status).toBe(503);
    expect(text).toContain('[-] certificates: ');
    expect(text).toContain('[+] handshake');
    const authority = /^gpugate_certificate_authority_expiry_timestamp_seconds (\d+)$/m;
    expect((await get('/metrics')).text).not.toMatch(authority);

    api.refuse = undefined;
    while (!(await get('/readyz')).text.includes('[+] certificates'));
    expect(await replica.handshake(held('ca.crt'))).toMatchObject({ trusted: true });
    const { validToDate } = new X509Certificate(held('ca.crt'));
    expect(authority.exec((await get('/metrics')).text)?.[1]).toBe(String(validToDate.getTime() / 1000));
    await replica.stop();
    await rm(dir, { recursive: true });
  });
});
