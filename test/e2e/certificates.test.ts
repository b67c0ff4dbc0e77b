import { X509Certificate } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readCertificates } from '../../src/certificates/x509.ts';
import { openTemplateKinds } from '../../src/commands/templates.ts';
import { webhookConfigurations } from '../../src/registration/configurations.ts';
import { type Api, apiOf } from '../cluster/api.ts';
import { type ControlPlane, startControlPlane } from '../cluster/controlplane.ts';
import { balancer, type TcpProxy } from '../cluster/proxies.ts';
import { type Ports, type Replica, startReplica, until } from '../cluster/replica.ts';
import { container, pod } from './governed.ts';

const LIFE_SECONDS = Number(process.env.GPUGATE_CERT_LIFE ?? 10);
/** How long the stream of creations lasts. */
const STREAM_SECONDS = Number(process.env.GPUGATE_STREAM_SECONDS ?? 60);
const WORKERS = 4;
const CONFIGURATIONS = ['mutatingwebhookconfigurations', 'validatingwebhookconfigurations'].map(
  (resource) => `/apis/admissionregistration.k8s.io/v1/${resource}/gpugate`,
);
const SECRETS = '/api/v1/namespaces/gpugate/secrets';
const SECRET = `${SECRETS}/gpugate-certificates`;
const TEAM = 'team-notebooks';
const MERGE = 'application/merge-patch+json';

type Data = Record<string, string>;

/** Two replicas behind one address, called by the name of a Service, that keep their certificates in one Secret. */
describe('certificates of our own', () => {
  let plane: ControlPlane;
  let api: Api;
  let front: TcpProxy;
  let replicas: Replica[] = [];
  const start = (name: string, ports?: Ports) =>
    startReplica(plane, name, ['--cert-lifetime', `${LIFE_SECONDS}s`], ports);
  const startAgain = (at: number) => {
    const { name, ports } = replicas[at] as Replica;
    return start(name, ports);
  };

  beforeAll(async () => {
    plane = await startControlPlane({ log: console.log });
    api = apiOf(plane);
    for (const [name, labels] of [
      ['gpugate', {}],
      [TEAM, { 'gpugate.dev/policy': 'notebooks' }],
    ] as const) {
      await api('POST', '/api/v1/namespaces', { metadata: { name, labels } });
    }
    await until('the service account is there', async () => {
      return (await api('GET', `/api/v1/namespaces/${TEAM}/serviceaccounts/default`)).code === 200;
    });
    replicas = [await start('one'), await start('two')];
    front = await balancer(replicas.map(({ ports: [port] }) => port));
    // The API server resolves an ExternalName itself, and asks for the certificate of <name>.<namespace>.svc.
    const spec = { type: 'ExternalName', externalName: '127.0.0.1' };
    await api('POST', '/api/v1/namespaces/gpugate/services', { metadata: { name: 'gpugate' }, spec });
    for (const object of webhookConfigurations({
      target: { service: { namespace: 'gpugate', name: 'gpugate', port: front.port } },
      excludedNamespaces: ['kube-system', 'gpugate'],
      gpuResources: [],
      templateKinds: await openTemplateKinds(undefined),
    })) {
      const { kind } = object as { kind: string };
      const path = CONFIGURATIONS.find((each) => each.includes(kind.toLowerCase()));
      await api('POST', path?.replace('/gpugate', '') ?? '', object);
    }
  });
  afterAll(async () => {
    for (const replica of replicas) await replica.stop();
    await front?.close();
    await plane?.stop();
  });

  const secret = async (): Promise<Data> => {
    const { code, body } = await api('GET', SECRET);
    return code === 200 ? decoded(body.data) : {};
  };
  /** What each webhook of both configurations trusts. */
  const bundles = async (): Promise<string[]> => {
    const objects = await Promise.all(CONFIGURATIONS.map((path) => api('GET', path)));
    return objects.flatMap(({ body }) =>
      body.webhooks.map((webhook: { clientConfig: { caBundle?: string } }) =>
        Buffer.from(webhook.clientConfig.caBundle ?? '', 'base64').toString(),
      ),
    );
  };
  const create = () => api('POST', `/api/v1/namespaces/${TEAM}/pods?dryRun=All`, pod('p', TEAM, [container('c')]));
  const allReady = () => Promise.all(replicas.map((replica) => replica.isReady())).then((all) => all.every(Boolean));
  const inStep = async () => {
    const { 'ca-bundle.crt': bundle = '' } = await secret();
    return bundle !== '' && (await bundles()).every((each) => each === bundle);
  };

  test('a first start makes them, publishes the CA and serves the leaf', async () => {
    await until('both are ready', allReady);
    const { 'ca.crt': ca = '', 'tls.crt': leaf = '', 'ca-bundle.crt': bundle } = await secret();
    expect(bundle).toBe(ca);
    expect(new X509Certificate(leaf).checkIssued(new X509Certificate(ca))).toBe(true);
    expect(new Set(await bundles())).toEqual(new Set([ca]));
    for (const replica of replicas) expect((await replica.handshake(ca)).trusted).toBe(true);
    await until('the API server trusts them', async () => (await create()).code === 201);
  });

  test('a blanked caBundle is put back at once', async () => {
    for (const path of CONFIGURATIONS) {
      const { body } = await api('GET', path);
      const webhooks = body.webhooks.map((webhook: { clientConfig: object }) => {
        const { caBundle: _, ...clientConfig } = webhook.clientConfig as { caBundle?: string };
        return { ...webhook, clientConfig };
      });
      expect((await api('PUT', path, { ...body, webhooks })).code).toBe(200);
    }
    await until('caBundle is back', inStep);
    await until('the API server trusts them', async () => (await create()).code === 201);
  });

  test('a deleted Secret comes back as it was', async () => {
    const before = await secret();
    const { 'ca.crt': ca = '' } = before;
    expect((await api('DELETE', SECRET)).code).toBe(200);
    await until('the Secret is back', async () => (await secret())['ca.crt'] === ca);
    expect((await create()).code).toBe(201);
  });

  test('nonsense in the Secret is mended, whichever replica is first, and its other keys stay', async () => {
    const { 'ca.crt': ca } = await secret();
    for (const spoilt of ['tls.crt', 'ca.key', 'ca-bundle.crt']) {
      const data = {
        [spoilt]: Buffer.from('nonsense').toString('base64'),
        note: Buffer.from('mine').toString('base64'),
      };
      expect((await api('PATCH', SECRET, { data }, MERGE)).code).toBe(200);
      await until(`${spoilt} is mended`, async () => !Object.values(await secret()).includes('nonsense'));
      expect((await create()).code).toBe(201);
    }
    expect(await secret()).toMatchObject({ 'ca.crt': ca, note: 'mine' });
    for (const replica of replicas) expect((await replica.handshake(ca ?? '')).trusted).toBe(true);
  });

  test(`rotations every few seconds fail none of a stream of creations`, { timeout: 10 * 60_000 }, async () => {
    await until('all is in step', async () => (await inStep()) && (await create()).code === 201);
    const seen = { cas: new Set<string>(), leaves: new Set<string>() };
    const counts = { created: 0, handshakes: 0, wrong: [] as string[], asked: 0 };
    const end = Date.now() + STREAM_SECONDS * 1000;
    const going = () => Date.now() < end;
    const stream = async () => {
      while (going()) {
        const { code, body } = await create();
        if (code === 201) counts.created += 1;
        else counts.wrong.push(`${code} ${body.message}`);
      }
    };
    const shakeHands = async () => {
      while (going()) {
        // What is trusted before the handshake must make trusted what is served after it.
        const [trusted = ''] = await bundles();
        for (const replica of replicas) {
          const { trusted: isTrusted, serial } = await replica.handshake(trusted);
          counts.handshakes += 1;
          seen.leaves.add(serial);
          if (!isTrusted) counts.wrong.push(`${serial} is served, and its CA is not trusted`);
        }
        for (const ca of readCertificates(trusted)) seen.cas.add(ca.serialNumber);
        await sleep(50);
      }
    };
    const rotate = async () => {
      while (going()) {
        // Asked for all the time: each rotation waits for the end of the one before.
        const annotations = { 'gpugate.dev/renew': 'ca' };
        if ((await api('PATCH', SECRET, { metadata: { annotations } }, MERGE)).code === 200) counts.asked += 1;
        await sleep(1000);
      }
    };
    await Promise.all([...Array.from({ length: WORKERS }, stream), shakeHands(), rotate()]);
    console.log(
      `${counts.created} creations in ${STREAM_SECONDS} s, ${counts.wrong.length} failed; ${counts.handshakes} handshakes; ${seen.cas.size} CAs, ${seen.leaves.size} leaves`,
    );
    expect(counts.wrong).toEqual([]);
    expect(seen.cas.size).toBeGreaterThan(2);
    expect(seen.leaves.size).toBeGreaterThan(2);
    expect(await failedOpen(api)).toBe(0);
  });

  test('a restart of the API server amid rotations leaves certificates that it trusts', async () => {
    const before = (await secret())['tls.crt'];
    await plane.restartApiServer();
    await until('the leaf is renewed', async () => ![undefined, before].includes((await secret())['tls.crt']));
    await until('all is in step', async () => (await inStep()) && (await create()).code === 201);
    await until('both are ready', allReady);
  });

  test('certificates that expired while no replica ran are renewed at the start of the next one', async () => {
    for (const replica of replicas) await replica.stop();
    const { 'tls.crt': last = '', 'ca.crt': ca } = await secret();
    await until('the leaf has expired', async () => new X509Certificate(last).validToDate.getTime() < Date.now());
    replicas = [await startAgain(0), await startAgain(1)];
    await until('both are ready', allReady);
    const { 'tls.crt': leaf = '', 'ca.crt': same } = await secret();
    expect(new X509Certificate(leaf).validToDate.getTime()).toBeGreaterThan(
      new X509Certificate(last).validToDate.getTime(),
    );
    expect(same).toBe(ca);
    await until('the API server trusts them', async () => (await create()).code === 201);
  });

  test('no key of any certificate was ever logged', async () => {
    const { 'ca.key': key = '' } = await secret();
    const [, text = ''] = key.split('\n');
    expect(text).toHaveLength(64);
    for (const replica of replicas) {
      const log = JSON.stringify(replica.log());
      expect(log).toContain('certificates written');
      expect(log).not.toContain(text);
      expect(log).not.toContain('PRIVATE KEY');
    }
  });
});

/** Calls that the API server gave up and let by. */
async function failedOpen(api: Api): Promise<number> {
  const { body } = await api('GET', '/metrics');
  const lines: string[] = String(body).split('\n');
  return lines
    .filter((line) => line.startsWith('apiserver_admission_webhook_fail_open_count{'))
    .reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0);
}

function decoded(data: Data): Data {
  return Object.fromEntries(Object.entries(data).map(([key, value]) => [key, Buffer.from(value, 'base64').toString()]));
}
