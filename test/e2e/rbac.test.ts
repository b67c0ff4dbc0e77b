import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { request } from 'node:https';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { type Api, apiOf } from '../cluster/api.ts';
import { startComponent, whenReady } from '../cluster/component.ts';
import { type ControlPlane, startControlPlane } from '../cluster/controlplane.ts';
import { CHART, helmFor, mustHelm } from '../cluster/helm.ts';
import { mustKubectl } from '../cluster/kubectl.ts';
import { addNodes } from '../cluster/nodes.ts';
import { freePorts } from '../cluster/ports.ts';

const policy = { apiVersion: 'gpugate.dev/v1alpha1', kind: 'GpuPolicy', metadata: { name: 'mine' }, spec: {} };
const EXPECTED = fileURLToPath(new URL('./rbac/can-i.txt', import.meta.url));
const MAIN = fileURLToPath(new URL('../../src/main.ts', import.meta.url));
const ACCOUNTS = ['gpugate', 'gpugate-unregister', 'gpugate-install-crd', 'gpugate-test'] as const;
/** The release's own, one that `helm test` tries in, and any other. */
const NAMESPACES = ['gpugate', 'default', 'team'];

let plane: ControlPlane;
const kubectl = (args: string, input?: string) => mustKubectl(plane.kubectl, args.split(' '), input);
const tokens = new Map<string, string>();

beforeAll(async () => {
  plane = await startControlPlane({ log: console.log });
  const helm = await helmFor(plane.dir, plane.kubeconfig, console.log);
  for (const name of ['gpugate', 'team']) await kubectl(`create namespace ${name}`);
  await mustHelm(helm, ['install', 'gpugate', CHART, '--namespace', 'gpugate', '--no-hooks']);
  // Helm makes these only while a hook runs; what runs in them would need a kubelet.
  const hooks = ['-s', 'templates/hooks.yaml', '-s', 'templates/test.yaml'];
  const printed = await mustHelm(helm, ['template', 'gpugate', CHART, '--namespace', 'gpugate', ...hooks]);
  const objects = parseAllDocuments(printed).map((document) => document.toJS());
  const items = objects.filter((object) => object && !['Job', 'Pod'].includes(object.kind));
  await kubectl('apply -f -', JSON.stringify({ apiVersion: 'v1', kind: 'List', items }));
  for (const name of ACCOUNTS) tokens.set(name, (await kubectl(`create token ${name} -n gpugate`)).trim());
  await kubectl('create secret generic gpugate-certificates -n gpugate');
  // For a moment, a resource that is established is answered with 429.
  await whenReady([], async () => (await plane.kubectl(['get', 'gpupolicies'])).code === 0, 60_000);
  await kubectl('create secret generic other -n gpugate');
});
afterAll(() => plane?.stop());

const apiAs = (account: string): Api => apiOf({ ...plane, token: tokens.get(account) ?? '' });

test('what the accounts may do is what test/e2e/rbac/can-i.txt says, and no more', async () => {
  const listed = async (account: string, namespace: string) => {
    const as = `--as=system:serviceaccount:gpugate:${account}`;
    const lines = (await kubectl(`auth can-i --list ${as} -n ${namespace}`)).split('\n').slice(1);
    return lines.map((line) => line.replace(/\s+/g, ' ').trim()).filter((line) => line !== '');
  };
  const found: string[] = [];
  for (const namespace of NAMESPACES) {
    // What every account may, and what differs by version of Kubernetes: to ask what it may, and to discover the API.
    const everyone = await listed('without-a-role', namespace);
    for (const account of ACCOUNTS) {
      const own = (await listed(account, namespace)).filter((line) => !everyone.includes(line)).sort();
      found.push(`# ${account} in namespace ${namespace}: resources, URLs, names, verbs`, ...own, '');
    }
  }
  const text = found.join('\n');
  // `UPDATE=1 npx vitest run --project e2e test/e2e/rbac.test.ts` writes it anew.
  if (process.env.UPDATE) await writeFile(EXPECTED, text);
  expect(await readFile(EXPECTED, 'utf8')).toBe(text);
});

/** A kubeconfig with the token of an account. */
async function kubeconfigOf(account: string): Promise<string> {
  const file = join(plane.dir, `${account}.kubeconfig`);
  const admin = JSON.parse(await readFile(plane.kubeconfig, 'utf8'));
  await writeFile(file, JSON.stringify({ ...admin, users: [{ name: 'admin', user: { token: tokens.get(account) } }] }));
  return file;
}

test('a replica that runs as its account does all of its work, and is refused nothing', async () => {
  await addNodes(plane);
  await kubectl('apply -f -', JSON.stringify({ ...policy, spec: ASKING }));
  await kubectl('create namespace team-a');
  await kubectl('label namespace team-a gpugate.dev/policy=mine');
  const [port, metricsPort] = (await freePorts(2)) as [number, number];
  const logFile = join(plane.dir, 'gpugate.log');
  const flags = [
    ['--port', String(port), '--metrics-port', String(metricsPort), '--shutdown-delay', '0'],
    ['--kubeconfig', await kubeconfigOf('gpugate'), '--webhook-configurations', 'gpugate'],
    ['--cert-secret', 'gpugate/gpugate-certificates', '--service', 'gpugate/gpugate'],
  ].flat();
  const replica = await startComponent('gpugate', process.execPath, [MAIN, 'serve', ...flags], logFile);
  try {
    const metrics = async () => (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text();
    const ready = () =>
      fetch(`http://127.0.0.1:${metricsPort}/readyz`).then(
        ({ ok }) => ok,
        () => false,
      );
    await whenReady([replica], ready, 60_000);
    const ca = Buffer.from(
      await kubectl(`get secret gpugate-certificates -n gpugate -o jsonpath={.data.ca\\.crt}`),
      'base64',
    );
    const review = async () => {
      await post(port, ca, await readFile(REVIEW));
      const exposition = await metrics();
      return WATCHED.every((resource) => exposition.includes(`gpugate_watch_synced{resource="${resource}"} 1`));
    };
    await whenReady([replica], review, 60_000);
    const status = async () => (await kubectl('get gpupolicy mine -o jsonpath={.status.namespaces}')) === '1';
    await whenReady([replica], status, 60_000);
    for (const kind of ['mutatingwebhookconfiguration', 'validatingwebhookconfiguration']) {
      const { webhooks } = JSON.parse(await kubectl(`get ${kind} gpugate -o json`));
      for (const { clientConfig } of webhooks) expect(Buffer.from(clientConfig.caBundle, 'base64')).toEqual(ca);
    }
    expect(await readFile(logFile, 'utf8')).not.toMatch(/forbidden|cannot/);
  } finally {
    await replica.stop();
  }
});

/** A policy whose rules ask for everything that gpugate ever watches, and what that is. */
const ASKING = {
  sharing: 'mig',
  mig: { profile: '1g.10gb' },
  runtimeClassName: 'nvidia',
};
const WATCHED = [
  ...['namespaces', 'nodes', 'gpupolicies', 'resourcequotas', 'limitranges', 'runtimeclasses', 'deviceclasses'],
  ...['secrets', 'mutatingwebhookconfigurations', 'validatingwebhookconfigurations'],
];
const REVIEW = new URL('../reviews/pod-create-whole.json', import.meta.url);

/** Posts a review as the API server does. */
function post(port: number, ca: Buffer, body: Buffer): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const options = { host: '127.0.0.1', servername: 'gpugate.gpugate.svc', port, ca, method: 'POST', path: '/mutate' };
    const call = request({ ...options, headers: { 'content-type': 'application/json' } }, (answer) =>
      resolve(json(answer)),
    );
    call.once('error', reject);
    call.end(body);
  });
}

const REGISTRATION = '/apis/admissionregistration.k8s.io/v1';
const MUTATING = `${REGISTRATION}/mutatingwebhookconfigurations`;
const VALIDATING = `${REGISTRATION}/validatingwebhookconfigurations`;
const SECRETS = '/api/v1/namespaces/gpugate/secrets';
const POLICIES = '/apis/gpugate.dev/v1alpha1/gpupolicies';
const CRDS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const own = (name: string) => `?fieldSelector=metadata.name%3D${name}`;
const secret = (name: string) => ({ apiVersion: 'v1', kind: 'Secret', metadata: { name }, data: {} });
const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'mine' } };
const binding = {
  apiVersion: 'rbac.authorization.k8s.io/v1',
  kind: 'ClusterRoleBinding',
  metadata: { name: 'mine' },
  roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'cluster-admin' },
  subjects: [{ kind: 'ServiceAccount', name: 'gpugate', namespace: 'gpugate' }],
};
const pod = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'mine' },
  spec: { containers: [{ name: 'a', image: 'x' }] },
};
const caBundle = (path: string) => [{ op: 'test', path: `${path}/failurePolicy`, value: 'Ignore' }];
const JSON_PATCH = 'application/json-patch+json';
const MERGE_PATCH = 'application/merge-patch+json';

describe('the account of the replicas', () => {
  test.each<[string, string, string, unknown?, string?]>([
    ['lists namespaces', 'GET', '/api/v1/namespaces'],
    ['reads a namespace', 'GET', '/api/v1/namespaces/team'],
    ['lists nodes', 'GET', '/api/v1/nodes'],
    ['lists policies', 'GET', POLICIES],
    ['lists quotas of all namespaces', 'GET', '/api/v1/resourcequotas'],
    ['lists limit ranges of all namespaces', 'GET', '/api/v1/limitranges'],
    ['lists runtime classes', 'GET', '/apis/node.k8s.io/v1/runtimeclasses'],
    ['lists device classes', 'GET', '/apis/resource.k8s.io/v1/deviceclasses'],
    ['reads its Secret', 'GET', `${SECRETS}/gpugate-certificates`],
    ['lists its Secret', 'GET', `${SECRETS}${own('gpugate-certificates')}`],
    ['watches its Secret', 'GET', `${SECRETS}${own('gpugate-certificates')}&watch=1&timeoutSeconds=1`],
    ['changes its Secret', 'PATCH', `${SECRETS}/gpugate-certificates`, { data: { a: 'Yg==' } }, MERGE_PATCH],
    ['creates a Secret in its namespace', 'POST', `${SECRETS}?dryRun=All`, secret('mine')],
    ['lists its mutating configuration', 'GET', `${MUTATING}${own('gpugate')}`],
    ['lists its validating configuration', 'GET', `${VALIDATING}${own('gpugate')}`],
    ['watches its configuration', 'GET', `${MUTATING}${own('gpugate')}&watch=1&timeoutSeconds=1`],
    ['changes its configuration', 'PATCH', `${MUTATING}/gpugate`, caBundle('/webhooks/0'), JSON_PATCH],
  ])('%s', async (_, method, path, body, type) => {
    const { code, body: answer } = await apiAs('gpugate')(method, path, body, type);
    expect(`${code} ${answer?.message ?? ''}`).toMatch(/^20[01] $/);
  });

  test('writes the status of a policy', async () => {
    await kubectl('apply -f -', JSON.stringify(policy));
    const { code } = await apiAs('gpugate')('PATCH', `${POLICIES}/mine/status`, { status: {} }, MERGE_PATCH);
    expect(code).toBe(200);
  });

  test.each<[string, string, string, unknown?, string?]>([
    ['reads a node by name', 'GET', '/api/v1/nodes/a'],
    ['labels a namespace', 'PATCH', '/api/v1/namespaces/team', { metadata: { labels: { a: 'b' } } }, MERGE_PATCH],
    ['creates a namespace', 'POST', '/api/v1/namespaces', namespace],
    ['deletes a namespace', 'DELETE', '/api/v1/namespaces/team'],
    ['lists pods', 'GET', '/api/v1/pods'],
    ['creates a pod in its namespace', 'POST', '/api/v1/namespaces/gpugate/pods', pod],
    ['lists Secrets of its namespace', 'GET', SECRETS],
    ['reads another Secret', 'GET', `${SECRETS}/other`],
    ['replaces its Secret', 'PUT', `${SECRETS}/gpugate-certificates`, secret('gpugate-certificates')],
    ['deletes its Secret', 'DELETE', `${SECRETS}/gpugate-certificates`],
    ['creates a Secret elsewhere', 'POST', '/api/v1/namespaces/team/secrets', secret('mine')],
    ['lists Secrets of all namespaces', 'GET', '/api/v1/secrets'],
    ['reads ConfigMaps', 'GET', '/api/v1/namespaces/gpugate/configmaps'],
    ['changes a policy', 'PATCH', `${POLICIES}/mine`, { spec: { mode: 'audit' } }, MERGE_PATCH],
    ['creates a policy', 'POST', POLICIES, policy],
    ['deletes a policy', 'DELETE', `${POLICIES}/mine`],
    ['lists all configurations', 'GET', MUTATING],
    ['changes another configuration', 'PATCH', `${MUTATING}/other`, caBundle('/webhooks/0'), JSON_PATCH],
    ['deletes its configuration', 'DELETE', `${VALIDATING}/gpugate`],
    ['creates a configuration', 'POST', VALIDATING, { metadata: { name: 'mine' } }],
    ['binds itself to more', 'POST', '/apis/rbac.authorization.k8s.io/v1/clusterrolebindings', binding],
    ['takes the token of another account', 'POST', '/api/v1/namespaces/gpugate/serviceaccounts/default/token', {}],
    ['lists resources', 'GET', CRDS],
    ['changes its resource', 'PATCH', `${CRDS}/gpupolicies.gpugate.dev`, { spec: {} }, MERGE_PATCH],
    ['reads its Deployment', 'GET', '/apis/apps/v1/namespaces/gpugate/deployments/gpugate'],
  ])('is refused when it %s', async (_, method, path, body, type) => {
    const { code, body: answer } = await apiAs('gpugate')(method, path, body, type);
    expect(`${code} ${answer.message}`).toMatch(/^403 .*User "system:serviceaccount:gpugate:gpugate" cannot/);
  });
});

describe('the accounts of the hooks', () => {
  /** A verb of gpugate with an account's token, as the Job runs it. */
  const verb = async (account: string, ...args: readonly string[]) => {
    const kubeconfig = await kubeconfigOf(account);
    return new Promise<{ code: number; stdout: string; stderr: string }>((resolve) => {
      execFile(process.execPath, [MAIN, ...args, '--kubeconfig', kubeconfig], (error, stdout, stderr) =>
        resolve({ code: Number(error?.code ?? 0), stdout, stderr }),
      );
    });
  };
  const CRD = 'gpupolicies.gpugate.dev';
  const columns = () => kubectl(`get crd ${CRD} -o jsonpath={.spec.versions[*].additionalPrinterColumns[*].name}`);

  test('install-crd brings the resource up to date, and policies stay', async () => {
    await kubectl('apply -f -', JSON.stringify(policy));
    const before = await columns();
    const removed = [{ op: 'remove', path: '/spec/versions/0/additionalPrinterColumns/0' }];
    await mustKubectl(plane.kubectl, ['patch', 'crd', CRD, '--type=json', '-p', JSON.stringify(removed)]);
    expect(await columns()).not.toBe(before);
    expect(await verb('gpugate-install-crd', 'install-crd')).toMatchObject({ code: 0, stderr: '' });
    expect(await columns()).toBe(before);
    expect(await kubectl('get gpupolicy mine -o name')).toContain('mine');
  });

  test('install-crd creates the resource where it is gone', async () => {
    await kubectl(`delete crd ${CRD} --wait=true --timeout=60s`);
    expect(await verb('gpugate-install-crd', 'install-crd')).toMatchObject({ code: 0, stdout: `${CRD} created\n` });
    await kubectl(`wait --for=condition=Established crd/${CRD} --timeout=30s`);
  });

  test('unregister is refused to the account of the replicas, with one line that says so', async () => {
    const { code, stderr } = await verb('gpugate', 'unregister');
    expect(code).toBe(4);
    expect(stderr).toMatch(/^gpugate: the cluster: validatingwebhookconfigurations.* "gpugate" is forbidden: .*\n$/);
  });

  test('unregister removes both configurations, and may be run again', async () => {
    const names = ['validatingwebhookconfigurations/gpugate', 'mutatingwebhookconfigurations/gpugate'];
    const said = (what: string) => names.map((name) => `${name} ${what}\n`).join('');
    expect(await verb('gpugate-unregister', 'unregister')).toMatchObject({ code: 0, stdout: said('removed') });
    expect(await kubectl('get mutatingwebhookconfigurations,validatingwebhookconfigurations -o name')).toBe('');
    expect(await verb('gpugate-unregister', 'unregister')).toMatchObject({ code: 0, stdout: said('was not there') });
  });

  test('the account of `helm test` may only try pods where it is told to', async () => {
    const tried = async (name: string) =>
      (await apiAs('gpugate-test')('POST', `/api/v1/namespaces/${name}/pods?dryRun=All`, pod)).code;
    expect(await tried('default')).toBe(201);
    expect(await tried('team')).toBe(403);
    expect((await apiAs('gpugate-test')('GET', '/api/v1/namespaces/default/pods')).code).toBe(403);
  });
});
