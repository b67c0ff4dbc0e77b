import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { whenReady } from '../cluster/component.ts';
import { type ControlPlane, startControlPlane } from '../cluster/controlplane.ts';
import { CHART, type Helm, helmFor, mustHelm } from '../cluster/helm.ts';
import { mustKubectl } from '../cluster/kubectl.ts';

// No kubelet runs here, so that hooks are left out and no pod starts; test/e2e/install.test.ts has them. This is about objects.
let plane: ControlPlane;
let helm: Helm;
const kubectl = (args: string, input?: string) => mustKubectl(plane.kubectl, args.split(' '), input);
const get = async (args: string) => JSON.parse(await kubectl(`get ${args} -o json`));

beforeAll(async () => {
  plane = await startControlPlane({ log: console.log });
  helm = await helmFor(plane.dir, plane.kubeconfig, console.log);
  await kubectl('create namespace gpugate');
  await kubectl('label namespace gpugate pod-security.kubernetes.io/enforce=restricted');
  await kubectl('create namespace team-old');
  await kubectl('label namespace team-old kept=yes');
});
afterAll(() => plane?.stop());

const release = (verb: 'install' | 'upgrade', ...args: readonly string[]) => [
  ...[verb, 'gpugate', CHART, '--namespace', 'gpugate', '--no-hooks'],
  ...['--set', 'policies.notebooks.sharing=time-slicing', '--set', 'namespaceLabelGuard.enabled=true'],
  ...['--set', 'namespaceLabelGuard.users={alice}'],
  ...['--set-json', 'namespaces={"team-new":{"gpugate.dev/policy":"notebooks"}}'],
  ...args,
];

describe('a release', () => {
  beforeAll(async () => {
    await mustHelm(helm, release('install'));
  });

  test('has its pods admitted under restricted Pod Security', async () => {
    const pods = async () => (await get('pods -n gpugate -l app.kubernetes.io/component=webhook')).items;
    await whenReady([], async () => (await pods()).length === 2, 60_000);
    for (const { spec } of await pods()) expect(spec.priorityClassName).toBe('system-cluster-critical');
  });

  test('brings the resource GpuPolicy, policies and labelled namespaces, though no replica is ready', async () => {
    expect((await get('gpupolicy notebooks')).spec).toMatchObject({ sharing: 'time-slicing', mode: 'enforce' });
    expect((await get('namespace team-new')).metadata.labels).toMatchObject({ 'gpugate.dev/policy': 'notebooks' });
  });

  test('takes over a namespace that is there only when it is asked to, and keeps its labels', async () => {
    const over = ['--set-json', 'namespaces={"team-new":{},"team-old":{"gpugate.dev/policy":"notebooks"}}'];
    const refused = await helm(release('upgrade', ...over));
    expect(refused.stderr).toMatch(/Namespace "team-old".* exists and cannot be imported into the current release/);
    await mustHelm(helm, release('upgrade', ...over, '--take-ownership'));
    const { labels } = (await get('namespace team-old')).metadata;
    expect(labels).toMatchObject({ kept: 'yes', 'gpugate.dev/policy': 'notebooks' });
  });

  test('an upgrade leaves the caBundle that gpugate has published', async () => {
    const authority = await certificate();
    const kinds = ['mutatingwebhookconfiguration', 'validatingwebhookconfiguration'];
    for (const kind of kinds) {
      const { webhooks } = await get(`${kind} gpugate`);
      const patch = webhooks.map((_: unknown, index: number) => {
        return { op: 'add', path: `/webhooks/${index}/clientConfig/caBundle`, value: authority };
      });
      const args = ['patch', kind, 'gpugate', '--type=json', '--field-manager=gpugate', '-p', JSON.stringify(patch)];
      await mustKubectl(plane.kubectl, args);
    }
    await mustHelm(
      helm,
      release('upgrade', '--set', 'webhooks.failClosed=all', '--set', 'gpuResources={a.example/npu}'),
    );
    const after = await Promise.all(kinds.map(async (kind) => (await get(`${kind} gpugate`)).webhooks));
    for (const { clientConfig } of after.flat()) expect(clientConfig.caBundle).toBe(authority);
    expect(after[1].map(({ failurePolicy }: { failurePolicy: string }) => failurePolicy)).toContain('Fail');
    expect(JSON.stringify(after)).toContain('a\\\\\\\\.example/npu');
  });
});

describe('who may label namespaces', () => {
  const as = (user: string, args: string, input?: string) =>
    plane.kubectl(['--as', user, ...args.split(' ')], input === undefined ? {} : { input });
  const MESSAGE = 'may not set, change or remove labels that begin with gpugate.dev/ on namespaces';

  beforeAll(async () => {
    const verbs = '--verb=get,list,create,update,patch';
    await kubectl(`create clusterrole label ${verbs} --resource=namespaces,namespaces/status,namespaces/finalize`);
    await kubectl('create clusterrolebinding label --clusterrole=label --user=alice --user=bob');
    const refused = async () => (await as('bob', 'label ns team-old gpugate.dev/policy-')).stderr.includes(MESSAGE);
    await whenReady([], refused, 30_000);
  });

  test('a user who is not listed may neither set, change nor remove one', async () => {
    for (const change of ['gpugate.dev/mode=audit', 'gpugate.dev/policy=other --overwrite', 'gpugate.dev/policy-']) {
      expect((await as('bob', `label ns team-old ${change}`)).stderr, change).toContain(`gpugate: bob ${MESSAGE}`);
    }
  });

  test.each(['status', 'finalize'])('nor by the subresource %s', async (subresource) => {
    const namespace = await get('namespace team-old');
    namespace.metadata.labels['gpugate.dev/policy'] = 'other';
    const path = `--raw=/api/v1/namespaces/team-old/${subresource}`;
    const { stderr } = await as('bob', `replace ${path} -f -`, JSON.stringify(namespace));
    expect(stderr).toContain(MESSAGE);
  });

  test('nor create a namespace that has one', async () => {
    const labels = { 'gpugate.dev/policy': 'other' };
    const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'team-bob', labels } };
    expect((await as('bob', 'create -f -', JSON.stringify(namespace))).stderr).toContain(MESSAGE);
  });

  test('other labels are free, and who is listed may', async () => {
    expect(await as('bob', 'label ns team-old colour=red')).toMatchObject({ code: 0 });
    expect(await as('alice', 'label ns team-old gpugate.dev/mode=audit')).toMatchObject({ code: 0 });
    expect((await get('namespace team-old')).metadata.labels).toMatchObject({ 'gpugate.dev/mode': 'audit' });
  });
});

test('an uninstall leaves namespaces and the resource, and nothing that would be called', async () => {
  await mustHelm(helm, ['uninstall', 'gpugate', '--namespace', 'gpugate', '--no-hooks', '--wait']);
  expect(await kubectl('get ns team-old team-new -o name')).toBe('namespace/team-old\nnamespace/team-new\n');
  expect(await kubectl('get crd gpupolicies.gpugate.dev -o name')).toContain('gpupolicies');
  const kinds = 'mutatingwebhookconfigurations,validatingwebhookconfigurations,validatingadmissionpolicies';
  expect(await kubectl(`get ${kinds} -o name`)).toBe('');
  expect(await kubectl('get deployments,services,roles,networkpolicies,resourcequotas -n gpugate -o name')).toBe('');
});

/** A certificate that the API server takes for an authority, as a caBundle holds it. */
async function certificate(): Promise<string> {
  const { data } = await get('configmap kube-root-ca.crt -n default');
  return Buffer.from(data['ca.crt']).toString('base64');
}
