import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { makeAuthority, makeLeaf } from '../../src/certificates/sign.ts';
import { VERSION } from '../../src/commands/version.ts';
import type { DoctorMark } from '../../src/doctor/result.ts';
import { type Ended, gpugate } from '../integration/gpugate.ts';
import { type Governed, startGoverned } from './governed.ts';

const KINDS = ['mutatingwebhookconfigurations', 'validatingwebhookconfigurations'] as const;
const CONFIGURATION = (kind: (typeof KINDS)[number]) => `/apis/admissionregistration.k8s.io/v1/${kind}/gpugate`;
const CRD = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions/gpupolicies.gpugate.dev';
const JSON_PATCH = 'application/json-patch+json';
const DAY_MS = 24 * 60 * 60 * 1000;

const WELL = `✓ versions      gpugate ${VERSION}, API server v1.37.2
✓               the CRD of GpuPolicy is that of this version (v1alpha1)
✓ registration  all 13 entries of this version are registered, with the failure policies and exclusions that it gives them
✓ certificates  the caBundle holds one authority, valid until DAY
✓               the certificate served at ADDRESS fits the caBundle and is valid until DAY
✓ service       the entries call a URL, no Service of the cluster
✓ dry runs      a GpuPolicy to refuse: gpugate refuses it
✓               a pod to refuse, in namespace team-inference: gpugate refuses it
✓               a pod to change, in namespace team-inference: gpugate changes it as the policy says
✓               a pod to pass, in namespace default: an ordinary pod passes unchanged
✓ policies      5 policies are understood and looked at by gpugate

gpugate is well.
`;

interface Diagnosed {
  readonly well: boolean;
  readonly checks: readonly {
    readonly name: string;
    readonly mark: DoctorMark;
    readonly said: readonly { readonly mark: DoctorMark; readonly text: string; readonly next?: string }[];
  }[];
}

describe('gpugate doctor on a real cluster', () => {
  let cluster: Governed;
  let dir: string;
  /** What was registered first, by its address. */
  const registered = new Map<string, { readonly webhooks: readonly object[] }>();
  beforeAll(async () => {
    cluster = await startGoverned();
    for (const kind of KINDS) registered.set(CONFIGURATION(kind), (await cluster.api('GET', CONFIGURATION(kind))).body);
    dir = await mkdtemp(join(tmpdir(), 'gpugate-doctor-'));
  });
  afterAll(async () => {
    await cluster?.stop();
    if (dir) await rm(dir, { recursive: true });
  });

  const run = (args: readonly string[] = [], kubeconfig = cluster.plane.kubeconfig): Promise<Ended> =>
    gpugate(['doctor', '--kubeconfig', kubeconfig, ...args], { LANG: 'C.UTF-8' });

  async function diagnosed(args: readonly string[] = [], kubeconfig?: string): Promise<Diagnosed & { code: unknown }> {
    const { code, stdout, stderr } = await run([...args, '-o', 'json'], kubeconfig);
    expect(stderr).toBe('');
    return { code, ...JSON.parse(stdout) };
  }

  const said = ({ checks }: Diagnosed, wanted: DoctorMark) =>
    checks.flatMap(({ name, said: all }) =>
      all.filter(({ mark }) => mark === wanted).map(({ text }) => `${name}: ${text}`),
    );

  /** Puts a webhook configuration to what `change` makes of its entries. */
  async function reconfigure(
    kind: (typeof KINDS)[number],
    // biome-ignore lint/suspicious/noExplicitAny: entries as the API server holds them.
    change: (webhooks: any[]) => any[],
  ): Promise<void> {
    const { body } = await cluster.api('GET', CONFIGURATION(kind));
    const { code } = await cluster.api('PUT', CONFIGURATION(kind), { ...body, webhooks: change(body.webhooks) });
    expect(code).toBe(200);
  }
  // biome-ignore lint/suspicious/noExplicitAny: as above.
  const everywhere = async (change: (webhook: any) => any) => {
    for (const kind of KINDS) await reconfigure(kind, (webhooks) => webhooks.map(change));
  };

  /** Puts back what was registered first. */
  async function restore(): Promise<void> {
    for (const [path, first] of registered) {
      const { code, body } = await cluster.api('GET', path);
      const {
        uid: _,
        resourceVersion: __,
        ...metadata
      } = (first as unknown as { metadata: Record<string, unknown> }).metadata;
      const object = { ...first, metadata: code === 404 ? metadata : body.metadata };
      const written = await cluster.api(
        code === 404 ? 'POST' : 'PUT',
        code === 404 ? path.replace('/gpugate', '') : path,
        object,
      );
      expect([200, 201]).toContain(written.code);
    }
  }

  describe('where nothing is wrong', () => {
    test('every check says so, and the dry runs went through gpugate', async () => {
      const before = await cluster.gpugate.reviews();
      const diagnosis = await diagnosed();
      expect([said(diagnosis, 'problem'), said(diagnosis, 'warning'), said(diagnosis, 'unknown')]).toEqual([
        [],
        [],
        [],
      ]);
      expect([diagnosis.well, diagnosis.code]).toEqual([true, 0]);
      expect(said(diagnosis, 'ok').filter((line) => line.startsWith('dry runs'))).toEqual([
        'dry runs: a GpuPolicy to refuse: gpugate refuses it',
        'dry runs: a pod to refuse, in namespace team-inference: gpugate refuses it',
        'dry runs: a pod to change, in namespace team-inference: gpugate changes it as the policy says',
        'dry runs: a pod to pass, in namespace default: an ordinary pod passes unchanged',
      ]);
      expect(await cluster.gpugate.reviews()).toBeGreaterThan(before);
      for (const what of ['pods', 'gpupolicies']) {
        expect(await cluster.must(`get ${what} -A -o name`)).not.toContain('gpugate-doctor');
      }
    });

    test('people read a line for each thing that was looked at', async () => {
      const { code, stdout } = await run();
      expect(code).toBe(0);
      expect(stdout.replace(/\d{4}-\d\d-\d\d \d\d:\d\d/g, 'DAY').replace(/127\.0\.0\.1:\d+/g, 'ADDRESS')).toBe(
        WELL.replace('v1.37.2', String((await cluster.api('GET', '/version')).body.gitVersion)),
      );
    });
  });

  describe('gpugate is stopped', () => {
    beforeAll(() => cluster.gpugate.stop());
    afterAll(() => cluster.gpugate.start());

    test('is told as that, with what it leads to', async () => {
      const diagnosis = await diagnosed();
      expect(diagnosis.code).toBe(1);
      expect(said(diagnosis, 'problem')).toEqual([
        expect.stringMatching(/^certificates: 127\.0\.0\.1:\d+: no TLS handshake: .*ECONNREFUSED/),
        'dry runs: a GpuPolicy to refuse: gpugate was not asked, and it would be stored; its call failed, and the entry lets that pass: nothing listens there: gpugate is not running',
        'dry runs: a pod to refuse, in namespace team-inference: gpugate was not asked, and only the API server itself refuses it, without a reason that people understand; its call failed, and the entry lets that pass: nothing listens there: gpugate is not running',
        'dry runs: a pod to change, in namespace team-inference: the API server could not ask gpugate (gpu-pods.validate.gpugate.dev): nothing listens there: gpugate is not running',
      ]);
      expect(said(diagnosis, 'ok')).toContain(
        'dry runs: a pod to pass, in namespace default: an ordinary pod passes unchanged',
      );
    });

    test('--wait gives up with 124', async () => {
      const { code, stdout } = await run(['--wait', '1s', '--interval', '200ms']);
      expect(code).toBe(124);
      expect(stdout).toMatch(/gpugate is not well: 4 problems\.\n$/);
    });

    test('--wait ends with 0 once it is back', async () => {
      const waiting = run(['--wait', '120s', '--interval', '500ms']);
      await cluster.gpugate.start();
      expect((await waiting).code).toBe(0);
    });

    test('a GpuPolicy that came past the check, and one that nobody has looked at', async () => {
      await cluster.gpugate.stop();
      const spec = { sharing: 'mig', mig: { profile: '9g.999gb' } };
      await cluster.must('apply -f -', {
        apiVersion: 'gpugate.dev/v1alpha1',
        kind: 'GpuPolicy',
        metadata: { name: 'broken' },
        spec,
      });
      const problems = said(await diagnosed(), 'problem').filter((line) => line.startsWith('policies'));
      expect(problems).toEqual([
        expect.stringMatching(
          /^policies: GpuPolicy broken is not understood, so GPU pods of its namespaces are refused: spec\.mig\.profile is "9g\.999gb", which is on no known board/,
        ),
        'policies: GpuPolicy broken has no status: no gpugate has looked at it',
      ]);
      await cluster.must('delete gpupolicy broken');
    });
  });

  describe('what is registered', () => {
    afterEach(restore);

    test('an entry is missing', async () => {
      await reconfigure('mutatingwebhookconfigurations', ([first, ...rest]) => {
        expect(first.name).toBe('gpu-pods.mutate.gpugate.dev');
        return rest;
      });
      const diagnosis = await untilProblem();
      expect(said(diagnosis, 'problem')).toEqual([
        'registration: the entry gpu-pods.mutate.gpugate.dev is missing from MutatingWebhookConfiguration gpugate: explains, repairs or refuses GPU pods when they are created',
        'dry runs: a pod to refuse, in namespace team-inference: gpugate was not asked, and only the API server itself refuses it, without a reason that people understand; the entry gpu-pods.mutate.gpugate.dev is not registered, does not match, or its call failed and it lets that pass',
        'dry runs: a pod to change, in namespace team-inference: gpugate was not asked, and the pod came unchanged to validation; the entry gpu-pods.mutate.gpugate.dev is not registered, does not match, or its call failed and it lets that pass',
      ]);
    });

    test('an entry of another version stands there', async () => {
      await reconfigure('validatingwebhookconfigurations', (webhooks) => [
        ...webhooks,
        { ...webhooks.at(-1), name: 'old.validate.gpugate.dev' },
      ]);
      expect(said(await diagnosed(), 'warning')).toEqual([
        'registration: the entry old.validate.gpugate.dev of ValidatingWebhookConfiguration gpugate is none of this version',
      ]);
    });

    test('failure policy, exclusions and match conditions are others', async () => {
      await reconfigure('validatingwebhookconfigurations', (webhooks) =>
        webhooks.map((webhook) =>
          webhook.name !== 'gpu-pods.validate.gpugate.dev'
            ? webhook
            : {
                ...webhook,
                failurePolicy: 'Ignore',
                matchConditions: [],
                namespaceSelector: {
                  matchExpressions: webhook.namespaceSelector.matchExpressions.map(
                    (expression: { key: string; values: string[] }) =>
                      expression.key === 'kubernetes.io/metadata.name'
                        ? { ...expression, values: ['gpugate', 'gpu-operator', 'kube-node-lease', 'spare'] }
                        : expression,
                  ),
                },
              },
        ),
      );
      const diagnosis = await diagnosed();
      expect([diagnosis.well, diagnosis.code]).toEqual([true, 0]);
      expect(said(diagnosis, 'warning')).toEqual([
        'registration: gpu-pods.validate.gpugate.dev has failurePolicy Ignore, not Fail: what it refuses passes while gpugate is away',
        'registration: gpu-pods.validate.gpugate.dev does not leave out the namespace kube-system',
        'registration: gpu-pods.validate.gpugate.dev differs in matchConditions: registered by another version, or with other --gpu-resources and --templates than the doctor was given',
      ]);
      expect((await run(['--warnings-as-errors'])).code).toBe(1);
    });

    test('configurations of a name that none has', async () => {
      const { checks } = await diagnosed(['--configuration', 'foo']);
      const about = (name: string) => checks.find((check) => check.name === name)?.said;
      expect(about('registration')?.map(({ text, next }) => [text, next])).toEqual(
        ['Mutating', 'Validating'].map((kind) => [
          `there is no ${kind}WebhookConfiguration foo: the API server does not ask gpugate`,
          `kubectl get ${kind.toLowerCase()}webhookconfigurations`,
        ]),
      );
      expect(about('service')).toEqual([
        { mark: 'unknown', text: 'no entry is registered, so the API server calls nothing' },
      ]);
    });

    test('a configuration is not there', async () => {
      await cluster.must('delete mutatingwebhookconfiguration gpugate');
      expect(said(await untilProblem(), 'problem')).toContain(
        'registration: there is no MutatingWebhookConfiguration gpugate: the API server does not ask gpugate',
      );
    });
  });

  describe('certificates', () => {
    afterEach(restore);
    const bundle = (pem: string) => Buffer.from(pem).toString('base64');
    const validity = (fromDays: number, toDays: number) => ({
      notBefore: new Date(Date.now() + fromDays * DAY_MS),
      notAfter: new Date(Date.now() + toDays * DAY_MS),
    });
    const withBundle = (caBundle: string) => (webhook: { clientConfig: object }) => ({
      ...webhook,
      clientConfig: { ...webhook.clientConfig, caBundle },
    });

    test('the caBundle is of another authority', async () => {
      const other = await makeAuthority('another', validity(-1, 10));
      await everywhere(withBundle(bundle(other.certificate)));
      const problems = said(await untilProblem('could not ask'), 'problem');
      expect(problems[0]).toMatch(
        /^certificates: the caBundle does not make the certificate served at 127\.0\.0\.1:\d+ trusted: /,
      );
      expect(problems).toContain(
        'dry runs: a pod to change, in namespace team-inference: the API server could not ask gpugate (gpu-pods.validate.gpugate.dev): the caBundle is not that of the certificate that gpugate serves',
      );
    });

    test('one entry has another caBundle than the others', async () => {
      const other = await makeAuthority('another', validity(-1, 10));
      const change = withBundle(bundle(other.certificate));
      await reconfigure('validatingwebhookconfigurations', (webhooks) =>
        webhooks.map((webhook) => (webhook.name.startsWith('namespaces.') ? change(webhook) : webhook)),
      );
      expect(said(await diagnosed(), 'problem')[0]).toBe(
        'certificates: the caBundles differ: namespaces.validate.gpugate.dev has another than the others',
      );
    });

    test('no caBundle, and one that is expired', async () => {
      await everywhere(({ clientConfig: { caBundle: _, ...clientConfig }, ...webhook }) => ({
        ...webhook,
        clientConfig,
      }));
      expect(said(await diagnosed(), 'problem')).toContain(
        'certificates: no entry has a caBundle, so the API server does not trust gpugate',
      );
      const old = await makeAuthority('old', validity(-20, -10));
      await everywhere(withBundle(bundle(old.certificate)));
      expect(said(await diagnosed(), 'problem')[0]).toMatch(
        /^certificates: the certificate authority of the caBundle has expired on \d{4}-/,
      );
    });

    test('what is served has expired', async () => {
      const authority = await makeAuthority('authority', validity(-20, 20));
      const leaf = await makeLeaf(authority, { dns: ['localhost'], ip: ['127.0.0.1'] }, validity(-10, -1));
      const server = createServer({ cert: leaf.certificate, key: leaf.key }, (_, response) => response.end());
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
      const { port } = server.address() as AddressInfo;
      try {
        await everywhere((webhook) => ({
          ...webhook,
          clientConfig: {
            url: webhook.clientConfig.url.replace(/:\d+/, `:${port}`),
            caBundle: bundle(authority.certificate),
          },
        }));
        const problems = said(await untilProblem('could not ask'), 'problem');
        expect(problems[0]).toMatch(/^certificates: the certificate served at 127\.0\.0\.1:\d+ has expired on \d{4}-/);
        expect(problems).toContain(
          'dry runs: a pod to change, in namespace team-inference: the API server could not ask gpugate (gpu-pods.validate.gpugate.dev): the certificate that gpugate serves has expired, or the clocks differ',
        );
      } finally {
        server.closeAllConnections();
        await new Promise((resolve) => server.close(resolve));
      }
    });

    test('the Service that is called does not exist', async () => {
      await everywhere((webhook) => ({
        ...webhook,
        clientConfig: {
          caBundle: webhook.clientConfig.caBundle,
          service: { namespace: 'gpugate', name: 'gone', port: 443, path: new URL(webhook.clientConfig.url).pathname },
        },
      }));
      const diagnosis = await untilProblem('could not ask');
      expect(said(diagnosis, 'problem')).toEqual(
        expect.arrayContaining([
          'service: Service gpugate/gone does not exist, and the API server calls it',
          'dry runs: a pod to change, in namespace team-inference: the API server could not ask gpugate (gpu-pods.validate.gpugate.dev): the Service that the webhook configurations name does not exist',
        ]),
      );
      expect(said(diagnosis, 'unknown')).toEqual([
        "certificates: the certificate served at gone.gpugate.svc:443 can't be seen from here; the dry runs tell whether the API server trusts it",
      ]);
    });
  });

  test('a CRD that is older than this version', async () => {
    const { body } = await cluster.api('GET', CRD);
    const remove = [
      { op: 'remove', path: '/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties/nodesOnDemand' },
    ];
    await cluster.api('PATCH', CRD, remove, JSON_PATCH);
    expect(said(await diagnosed(), 'problem')).toEqual([
      'versions: the CRD of GpuPolicy is older than this gpugate: it lacks spec.nodesOnDemand, which the API server drops',
    ]);
    const { body: now } = await cluster.api('GET', CRD);
    const { code } = await cluster.api('PUT', CRD, { ...now, spec: body.spec });
    expect(code).toBe(200);
  });

  test('namespaces that name a policy which nobody knows', async () => {
    await cluster.must('create namespace lost');
    await cluster.must('label namespace lost gpugate.dev/policy=nowhere');
    expect(said(await diagnosed(), 'problem')).toEqual([
      'policies: no GpuPolicy is called nowhere, which lost names: GPU pods there are refused',
    ]);
    await cluster.must('delete namespace lost');
  });

  test('with no right but to create pods in one namespace, the rest is a question mark', async () => {
    await cluster.must('create serviceaccount prober -n default');
    await cluster.must('create role prober -n default --verb=create --resource=pods');
    await cluster.must('create rolebinding prober -n default --role=prober --serviceaccount=default:prober');
    const token = (await cluster.must('create token prober -n default')).trim();
    const kubeconfig = join(dir, 'prober');
    const config = JSON.parse(await cluster.must('config view --raw -o json'));
    config.users[0].user = { token };
    await writeFile(kubeconfig, JSON.stringify(config));
    const diagnosis = await vi.waitUntil(
      async () => {
        const now = await diagnosed(['--namespace', 'default'], kubeconfig);
        return said(now, 'ok').some((line) => line.includes('a pod to pass')) && now;
      },
      { timeout: 30_000, interval: 500 },
    );
    expect([diagnosis.code, said(diagnosis, 'problem')]).toEqual([0, []]);
    expect(said(diagnosis, 'ok').filter((line) => line.startsWith('dry runs'))).toEqual([
      'dry runs: a pod to refuse, in namespace default: gpugate refuses it',
      'dry runs: a pod to pass, in namespace default: an ordinary pod passes unchanged',
    ]);
    expect(said(diagnosis, 'unknown').length).toBeGreaterThan(4);
  });

  test('no cluster ends with 4', async () => {
    const kubeconfig = join(dir, 'nowhere');
    const config = JSON.parse(await cluster.must('config view --raw -o json'));
    config.clusters[0].cluster.server = 'https://127.0.0.1:2';
    await writeFile(kubeconfig, JSON.stringify(config));
    const { code, stderr } = await run([], kubeconfig);
    expect([code, stderr]).toEqual([4, expect.stringContaining('ECONNREFUSED')]);
  });

  /** A configuration that was just written takes effect a moment later at the API server. */
  function untilProblem(text = 'dry runs'): Promise<Diagnosed> {
    return vi.waitUntil(
      async () => {
        const now = await diagnosed();
        return said(now, 'problem').some((line) => line.includes(text)) && now;
      },
      { timeout: 30_000, interval: 500 },
    );
  }
});
