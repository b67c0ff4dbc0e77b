import { readFile, writeFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { mustKubectl } from '../cluster/kubectl.ts';
import { addNodes } from '../cluster/nodes.ts';
import { run } from '../cluster/run.ts';
import { ACCOUNTS, type Account, type Accounts, installAccounts } from './rbac/accounts.ts';
import { MAIN, startReplica } from './rbac/replica.ts';
import { BEYOND, MERGE_PATCH, POLICIES, pod, policy, WITHIN } from './rbac/requests.ts';

const EXPECTED = new URL('./rbac/can-i.txt', import.meta.url);
/** The release's own, one that `helm test` tries in, and any other. */
const NAMESPACES = ['gpugate', 'default', 'team'];

let accounts: Accounts;
beforeAll(async () => {
  accounts = await installAccounts();
});
afterAll(() => accounts?.plane.stop());

const kubectl = (args: string, input?: string) => accounts.kubectl(args, input);

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

/** A policy whose rules ask for everything that gpugate ever watches, and what that is. */
const ASKING = { sharing: 'mig', mig: { profile: '1g.10gb' }, runtimeClassName: 'nvidia' };
const WATCHED = [
  ...['namespaces', 'nodes', 'gpupolicies', 'resourcequotas', 'limitranges', 'runtimeclasses', 'deviceclasses'],
  ...['secrets', 'mutatingwebhookconfigurations', 'validatingwebhookconfigurations'],
];

test('a replica that runs as its account does all of its work, and is refused nothing', async () => {
  await addNodes(accounts.plane);
  await kubectl('apply -f -', JSON.stringify({ ...policy, spec: ASKING }));
  await kubectl('create namespace team-a');
  await kubectl('label namespace team-a gpugate.dev/policy=mine');
  const replica = await startReplica(accounts.plane.dir, await accounts.kubeconfigOf('gpugate'));
  try {
    const encoded = await kubectl('get secret gpugate-certificates -n gpugate -o jsonpath={.data.ca\\.crt}');
    const ca = Buffer.from(encoded, 'base64');
    await replica.until(async () => {
      await replica.review(ca);
      const exposition = await replica.metrics();
      return WATCHED.every((resource) => exposition.includes(`gpugate_watch_synced{resource="${resource}"} 1`));
    });
    await replica.until(async () => (await kubectl('get gpupolicy mine -o jsonpath={.status.namespaces}')) === '1');
    for (const kind of ['mutatingwebhookconfiguration', 'validatingwebhookconfiguration']) {
      const { webhooks } = JSON.parse(await kubectl(`get ${kind} gpugate -o json`));
      for (const { clientConfig } of webhooks) expect(Buffer.from(clientConfig.caBundle, 'base64')).toEqual(ca);
    }
    expect(await replica.log()).not.toMatch(/forbidden|cannot/);
  } finally {
    await replica.stop();
  }
});

describe('the account of the replicas', () => {
  test.each(WITHIN)('%s', async (_, method, path, body, type) => {
    const { code, body: answer } = await accounts.apiAs('gpugate')(method, path, body, type);
    expect(`${code} ${answer?.message ?? ''}`).toMatch(/^20[01] $/);
  });

  test('writes the status of a policy', async () => {
    await kubectl('apply -f -', JSON.stringify(policy));
    const { code } = await accounts.apiAs('gpugate')('PATCH', `${POLICIES}/mine/status`, { status: {} }, MERGE_PATCH);
    expect(code).toBe(200);
  });

  test.each(BEYOND)('is refused when it %s', async (_, method, path, body, type) => {
    const { code, body: answer } = await accounts.apiAs('gpugate')(method, path, body, type);
    expect(`${code} ${answer.message}`).toMatch(/^403 .*User "system:serviceaccount:gpugate:gpugate" cannot/);
  });
});

describe('the accounts of the hooks', () => {
  /** A verb of gpugate with an account's token, as the Job runs it. */
  const verb = async (account: Account, ...args: readonly string[]) => {
    return run(process.execPath, [MAIN, ...args, '--kubeconfig', await accounts.kubeconfigOf(account)]);
  };
  const CRD = 'gpupolicies.gpugate.dev';
  const columns = () => kubectl(`get crd ${CRD} -o jsonpath={.spec.versions[*].additionalPrinterColumns[*].name}`);

  test('install-crd brings the resource up to date, and policies stay', async () => {
    await kubectl('apply -f -', JSON.stringify(policy));
    const before = await columns();
    const removed = [{ op: 'remove', path: '/spec/versions/0/additionalPrinterColumns/0' }];
    await mustKubectl(accounts.plane.kubectl, ['patch', 'crd', CRD, '--type=json', '-p', JSON.stringify(removed)]);
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
      (await accounts.apiAs('gpugate-test')('POST', `/api/v1/namespaces/${name}/pods?dryRun=All`, pod)).code;
    expect(await tried('default')).toBe(201);
    expect(await tried('team')).toBe(403);
    expect((await accounts.apiAs('gpugate-test')('GET', '/api/v1/namespaces/default/pods')).code).toBe(403);
  });
});
