import { cp, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { parse, stringify } from 'yaml';
import { type ControlPlane, startControlPlane } from '../cluster/controlplane.ts';
import { CHART, type Helm, helmFor, mustHelm } from '../cluster/helm.ts';
import { mustKubectl } from '../cluster/kubectl.ts';
import { run } from '../cluster/run.ts';
import { commandOn } from './page-commands.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const MAIN = join(ROOT, 'src/main.ts');
const CRD = join(ROOT, 'deploy/crd.yaml');

// No kubelet runs here: as in an emergency, no pod starts, and no hook ever ends.
let plane: ControlPlane;
let helm: Helm;
const kubectl = (args: string, input?: string) => mustKubectl(plane.kubectl, args.split(' '), input);
const release = (verb: 'install' | 'upgrade', chart = CHART) => [verb, 'gpugate', chart, '-n', 'gpugate', '--no-hooks'];
const UNINSTALL = ['uninstall', 'gpugate', '-n', 'gpugate'];
const uninstall = () => mustHelm(helm, [...UNINSTALL, '--no-hooks', '--ignore-not-found']);
/** The chart as it is first installed. */
async function freshly(chart = CHART, ...args: readonly string[]): Promise<void> {
  await uninstall();
  await mustHelm(helm, [...release('install', chart), '--create-namespace', ...args]);
}

/** Runs a command of a page against this cluster. */
const helmOf = (page: string, part: RegExp) =>
  mustHelm(
    helm,
    commandOn(page, 'helm', part).map((word) => (word === 'CHART' ? CHART : word)),
  );
const kubectlOf = (page: string, part: RegExp, crd = CRD) =>
  mustKubectl(
    plane.kubectl,
    commandOn(page, 'kubectl', part).map((word) => (word === 'deploy/crd.yaml' ? crd : word)),
  );

beforeAll(async () => {
  plane = await startControlPlane({ log: console.log });
  helm = await helmFor(plane.dir, plane.kubeconfig, console.log);
});
afterAll(() => plane?.stop());

describe('what docs/operations.md says to do with a release', () => {
  const failurePolicies = async () =>
    kubectl('get validatingwebhookconfiguration gpugate -o jsonpath={.webhooks[*].failurePolicy}');
  const level = () => kubectl('get configmap gpugate-settings -n gpugate -o jsonpath={.data.log-level}');

  beforeEach(() => freshly());

  test('lets GPU pods by though no pod of gpugate can run', async () => {
    expect(await failurePolicies()).toContain('Fail');
    await helmOf('operations.md', /failClosed=none/);
    expect(await failurePolicies()).not.toContain('Fail');
  });

  test('changes the log level, and the release can be upgraded afterwards', async () => {
    await helmOf('operations.md', /logLevel=debug/);
    expect(await level()).toBe('debug');
    await mustHelm(helm, [...release('upgrade'), '--set', 'logLevel=info']);
    expect(await level()).toBe('info');
  });

  test('changes the log level by kubectl, and says how the release is upgraded afterwards', async () => {
    await kubectlOf('operations.md', /patch configmap gpugate-settings/);
    expect(await level()).toBe('debug');
    expect((await helm(release('upgrade'))).stderr).toContain('conflict with "kubectl-patch"');
    await mustHelm(helm, [...release('upgrade'), '--force-conflicts']);
    expect(await level()).toBe('info');
    await mustHelm(helm, [...release('upgrade'), '--set', 'logLevel=warn']);
    expect(await level()).toBe('warn');
  });
});

describe('a hook that fails', () => {
  beforeAll(() => freshly());

  const LABELS = 'app.kubernetes.io/name=gpugate,app.kubernetes.io/instance=gpugate';
  const withRights = () =>
    kubectl(`get clusterroles,clusterrolebindings,roles,rolebindings,serviceaccounts -A -o name -l ${LABELS}`);
  const runs = () => kubectl(`get jobs,pods -n gpugate -o name -l ${LABELS}`);

  test.each([
    [
      'before an upgrade',
      ['upgrade', 'gpugate', CHART, '-n', 'gpugate'],
      'pre-upgrade hooks failed',
      'job.batch/gpugate-install-crd',
    ],
    ['before an uninstall', UNINSTALL, 'not ready', 'job.batch/gpugate-unregister'],
    ['of `helm test`', ['test', 'gpugate', '-n', 'gpugate'], 'not ready', 'pod/gpugate-test'],
  ])('%s leaves what ran, and no account with rights', async (_, args, message, left) => {
    const before = await withRights();
    const { code, stderr } = await helm([...args, '--timeout', '5s']);
    expect(stderr).toContain(message);
    expect(code).not.toBe(0);
    expect(await runs()).toContain(`${left}\n`);
    expect(await withRights()).toBe(before);
  });

  test('keeps no release from being removed by the commands of docs/install.md, which leave nothing of it', async () => {
    await kubectlOf('install.md', /delete mutatingwebhookconfiguration/);
    await helmOf('install.md', /uninstall gpugate -n gpugate --no-hooks/);
    // As they stand where Helm was stopped while hooks ran.
    const files = ['-s', 'templates/hooks.yaml', '-s', 'templates/test.yaml'];
    const hooks = await mustHelm(helm, ['template', 'gpugate', CHART, '-n', 'gpugate', ...files]);
    await kubectl('apply --server-side --force-conflicts -f -', hooks);
    for (const account of ['clusterrole.rbac.authorization.k8s.io/gpugate-install-crd', 'serviceaccount/gpugate-test'])
      expect(await withRights()).toContain(account);
    await kubectlOf('install.md', /delete clusterroles/);
    expect([await withRights(), await runs()]).toEqual(['', '']);
  });

  test('nor does a namespace that was deleted first', async () => {
    await freshly(CHART, '--set', 'namespaceLabelGuard.enabled=true');
    await kubectl('delete namespace gpugate --wait=true');
    const left = () =>
      kubectl(
        `get mutatingwebhookconfigurations,validatingwebhookconfigurations,validatingadmissionpolicies,validatingadmissionpolicybindings,clusterroles,clusterrolebindings -o name -l ${LABELS}`,
      );
    expect(await left()).toContain('validatingwebhookconfiguration.admissionregistration.k8s.io/gpugate');
    await kubectlOf('install.md', /delete mutatingwebhookconfiguration/);
    await kubectlOf('install.md', /delete clusterroles/);
    expect(await left()).toBe('');
  });
});

describe('a newer chart, installed after an uninstall, brings its resource', () => {
  const columns = () =>
    kubectl('get crd gpupolicies.gpugate.dev -o jsonpath={.spec.versions[*].additionalPrinterColumns[*].name}');

  test.each([
    ['a hook', () => run(process.execPath, [MAIN, 'install-crd', '--kubeconfig', plane.kubeconfig])],
    ['the command of docs/install.md', () => kubectlOf('install.md', /crd\.yaml$/)],
  ])('after %s has changed that of an older one', async (how, bringUpToDate) => {
    const [older, newer] = [`Older ${how}`, `Newer ${how}`];
    await freshly(await chartWith(older));
    expect(await columns()).toContain(older);
    await bringUpToDate();
    expect(await columns()).not.toContain(older);
    await freshly(await chartWith(newer));
    expect(await columns()).toContain(newer);
  });

  test('after somebody has applied that of an older one, and docs/install.md was followed', async () => {
    await uninstall();
    await kubectl(`apply --server-side --force-conflicts -f ${CRD}`);
    const newer = await chartWith('Newest');
    const { stderr } = await helm([...release('install', newer), '--create-namespace']);
    expect(stderr).toContain('conflict with "kubectl"');
    await kubectlOf('install.md', /crd\.yaml$/, join(newer, 'crds/gpupolicies.yaml'));
    await freshly(newer);
    expect(await columns()).toContain('Newest');
  });

  /** A copy of the chart whose resource has a column more. */
  async function chartWith(column: string): Promise<string> {
    const dir = join(plane.dir, column.replaceAll(/\W/g, '-'));
    await cp(CHART, dir, { recursive: true });
    const file = join(dir, 'crds/gpupolicies.yaml');
    const crd = parse(await readFile(file, 'utf8'));
    crd.spec.versions[0].additionalPrinterColumns.push({ name: column, type: 'string', jsonPath: '.spec.mode' });
    await writeFile(file, stringify(crd));
    return dir;
  }
});
