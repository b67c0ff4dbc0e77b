import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { stringify } from 'yaml';
import { type Target, webhookConfigurations } from '../../src/registration/configurations.ts';
import { admissionConfiguration } from '../cluster/admission-configuration.ts';
import { type Api, apiOf } from '../cluster/api.ts';
import { type Credential, clientAuthority, clientCertificate } from '../cluster/client-certificates.ts';
import { type ControlPlane, startControlPlane } from '../cluster/controlplane.ts';
import { addNamespaces, DEMO_POLICIES, type Gpugate, startGpugate } from '../cluster/gpugate.ts';
import { mustKubectl } from '../cluster/kubectl.ts';
import { freePorts } from '../cluster/ports.ts';
import { container, pod } from './governed.ts';

// Valid to the API server too: an invalid one would be refused before the entries that fail closed are called.
const NOTEBOOK = pod('notebook', 'team-notebooks', [container('notebook')]);

/** What a pod of the policy gets. */
const JUDGED = '"gpugate.dev/policy":"notebooks';

describe('gpugate serve --client-ca before a real API server', () => {
  let dir: string;
  let authority: Credential;
  let plane: ControlPlane;
  let gpugate: Gpugate;
  let port: number;
  let api: Api;

  beforeAll(async () => {
    dir = await mkdtemp(join(tmpdir(), 'gpugate-clients-'));
    [port] = (await freePorts(1)) as [number];
    authority = await clientAuthority();
    await writeFile(join(dir, 'ca.crt'), authority.certificate);
    const shown = await clientCertificate(authority, ['kube-apiserver']);
    // By the Service's name and by one URL; not by the other URL that leads here.
    const names = [`gpugate.gpugate.svc:${port}`, `127.0.0.1:${port}`];
    const argument = await admissionConfiguration(join(dir, 'admission'), shown, names);
    plane = await startControlPlane({ log: console.log, apiServerArgs: [argument] });
    api = apiOf(plane);
    await addNamespaces(plane);
    gpugate = await startGpugate(plane, {
      port,
      policies: DEMO_POLICIES,
      args: ['--client-ca', join(dir, 'ca.crt')],
    });
    const service = {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name: 'gpugate', namespace: 'gpugate' },
      spec: { type: 'ExternalName', externalName: '127.0.0.1' },
    };
    await plane.kubectl(['create', 'namespace', 'gpugate']);
    await mustKubectl(plane.kubectl, ['apply', '-f', '-'], JSON.stringify(service));
  });
  afterAll(async () => {
    await gpugate?.stop();
    await plane?.stop();
    await rm(dir, { recursive: true, force: true });
  });

  /** Has the API server call gpugate in one way, and returns what it says of a pod once it does. */
  async function saidBy(target: Target): Promise<string> {
    const caBundle = await readFile(join(gpugate.certDir, 'ca.crt'), 'utf8');
    // The validating entries fail closed, so that a failed call is seen.
    const objects = webhookConfigurations({ target, caBundle })
      .map((object) => stringify(object))
      .join('---\n');
    await mustKubectl(plane.kubectl, [
      'delete',
      'mutatingwebhookconfigurations,validatingwebhookconfigurations',
      '--all',
    ]);
    const path = '/api/v1/namespaces/team-notebooks/pods?dryRun=All';
    const create = async () => JSON.stringify((await api('POST', path, NOTEBOOK)).body);
    await expect.poll(create, { timeout: 30_000 }).not.toContain('gpugate.dev');
    await mustKubectl(plane.kubectl, ['apply', '--server-side', '-f', '-'], objects);
    await expect.poll(create, { timeout: 30_000 }).toContain('gpugate.dev');
    return create();
  }

  const metric = async (name: string) =>
    Number(new RegExp(`^${name} (\\d+)$`, 'm').exec(await (await fetch(`${gpugate.metricsUrl}/metrics`)).text())?.[1]);

  test('is ready, and refuses nobody before anybody has called', async () => {
    const ready = await fetch(`${gpugate.metricsUrl}/readyz`);
    expect(await ready.text()).toContain('[+] handshake\n');
    expect(await metric('gpugate_refused_clients_total')).toBe(0);
  });

  test('reviews pass by the name of the Service, which the API server has a certificate for', async () => {
    expect(await saidBy({ service: { namespace: 'gpugate', name: 'gpugate', port } })).toContain(JUDGED);
    expect(await metric('gpugate_refused_clients_total')).toBe(0);
  });

  test('and by a URL that it has one for', async () => {
    expect(await saidBy({ url: `https://127.0.0.1:${port}` })).toContain(JUDGED);
    expect(await metric('gpugate_refused_clients_total')).toBe(0);
  });

  test('are refused by a URL that it has none for, and the user is told why', async () => {
    const said = await saidBy({ url: `https://localhost:${port}` });
    expect(said).not.toContain(JUDGED);
    expect(said).toContain('failed calling webhook \\"gpu-pods.validate.gpugate.dev\\"');
    expect(said).toContain('it has no certificate, and --client-ca asks for one');
    expect(await metric('gpugate_refused_clients_total')).toBeGreaterThan(0);
  });

  test('are refused when the certificate has another name', async () => {
    await gpugate.stop();
    gpugate = await startGpugate(plane, {
      port,
      policies: DEMO_POLICIES,
      args: ['--client-ca', join(dir, 'ca.crt'), '--client-names', 'front-proxy-client'],
    });
    const said = await saidBy({ url: `https://127.0.0.1:${port}` });
    expect(said).toContain('failed calling webhook');
    expect(said).toContain('its certificate is for \\"kube-apiserver\\", and --client-names has front-proxy-client');
  });

  test('curl is refused, with a certificate of its own or without', async () => {
    const own = await clientCertificate(await clientAuthority(), ['front-proxy-client']);
    await writeFile(join(dir, 'own.crt'), own.certificate);
    await writeFile(join(dir, 'own.key'), own.key);
    const withOwn = ['--cert', join(dir, 'own.crt'), '--key', join(dir, 'own.key')];
    for (const args of [[], withOwn]) {
      const said = await curl([
        '--cacert',
        join(gpugate.certDir, 'ca.crt'),
        ...args,
        `https://127.0.0.1:${port}/mutate`,
      ]);
      expect(said).toMatch(/^gpugate refuses this client: .*\n403$/);
    }
  });
});

function curl(args: readonly string[]): Promise<string> {
  const review = ['-s', '-w', '%{http_code}', '-H', 'content-type: application/json', '--data', '{}'];
  return new Promise((resolve, reject) => {
    execFile('curl', [...review, ...args], (error, stdout) => (error ? reject(error) : resolve(stdout)));
  });
}
