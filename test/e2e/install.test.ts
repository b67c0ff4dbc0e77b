import { cp, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parse, stringify } from 'yaml';
import { whenReady } from '../cluster/component.ts';
import { addNamespaces } from '../cluster/gpugate.ts';
import { CHART, mustHelm } from '../cluster/helm.ts';
import { mustKubectl } from '../cluster/kubectl.ts';
import { settled } from './chaos/settled.ts';
import { creation } from './creations.ts';
import { demoPolicies, type Installed, install, startInstallable } from './installed.ts';
import { type Counts, type Stream, startStream, table } from './stream.ts';

/**
 * There is no earlier release yet: the chart as it is, under an earlier version, with other settings and a resource that lacks a field.
 * Helm leaves an existing resource alone, so only the hook can bring it up to date before the policy that sets the field.
 */
const EARLIER = { version: '0.0.9', values: { policies: demoPolicies(), shutdownDelay: '5s', logLevel: 'warn' } };
const NEW_FIELD = { nodesOnDemand: true };
const NOW = {
  ...EARLIER.values,
  policies: { ...EARLIER.values.policies, elastic: { sharing: 'exclusive', ...NEW_FIELD } },
  shutdownDelay: '4s',
  logLevel: 'info',
  podAnnotations: { upgraded: 'yes' },
};

const TEAMS = ['team-notebooks', 'team-inference', 'team-training', 'team-web', 'team-free'];

describe('pods are created all the time while gpugate is', () => {
  let cluster: Installed;
  let stream: Stream;
  let counts: readonly Counts[] = [];

  beforeAll(async () => {
    cluster = await startInstallable();
    const { kubectl } = cluster.plane;
    for (const name of TEAMS) {
      await mustKubectl(kubectl, ['create', 'namespace', name]);
      await mustKubectl(kubectl, ['wait', '--for=create', 'serviceaccount/default', '-n', name, '--timeout=60s']);
    }
    stream = startStream({ plane: cluster.plane, rate: 20, dryRun: false });
    await stream.phase('before', 'no');
  });
  afterAll(() => cluster?.stop());

  test('installed by Helm, and then given namespaces', { timeout: 600_000 }, async () => {
    const { plane, helm } = cluster;
    await stream.phase('install', 'either');
    const earlier = await chartWithoutTheField(plane.dir);
    await mustHelm(helm, ['package', earlier, '--version', EARLIER.version, '--destination', plane.dir]);
    const packed = (await readdir(plane.dir)).find((name) => name.endsWith('.tgz')) ?? '';
    await install(cluster, EARLIER.values, join(plane.dir, packed));
    await addNamespaces(plane);
    await whenReady([], () => refuses(cluster), 30_000);
    await settled(cluster);
    await stream.phase('installed');
    await sleep(3_000);
  });

  test('tried by `helm test`', { timeout: 300_000 }, async () => {
    await stream.phase('helm test');
    expect(await mustHelm(cluster.helm, ['test', 'gpugate', '-n', 'gpugate', '--timeout', '3m'])).toMatch(
      /Phase:\s+Succeeded/,
    );
  });

  test('upgraded', { timeout: 600_000 }, async () => {
    await stream.phase('upgrade');
    await install(cluster, NOW);
    await settled(cluster);
    const [pod] = cluster.kubelet.pods();
    expect(
      (await cluster.api('GET', `/api/v1/namespaces/gpugate/pods/${pod?.name}`)).body.metadata.annotations,
    ).toMatchObject(NOW.podAnnotations);
    const { body } = await cluster.api('GET', '/apis/gpugate.dev/v1alpha1/gpupolicies/elastic');
    expect(body.spec).toMatchObject(NEW_FIELD);
  });

  test('rolled back', { timeout: 600_000 }, async () => {
    await stream.phase('rollback');
    await mustHelm(cluster.helm, ['rollback', 'gpugate', '1', '-n', 'gpugate', '--wait', '--timeout', '5m']);
    await settled(cluster);
    const history = JSON.parse(await mustHelm(cluster.helm, ['history', 'gpugate', '-n', 'gpugate', '-o', 'json']));
    expect(history.at(-1)).toMatchObject({ revision: 3, chart: `gpugate-${EARLIER.version}`, status: 'deployed' });
  });

  test('removed, and nothing stays in the way', { timeout: 600_000 }, async () => {
    await stream.phase('uninstall', 'either');
    await mustHelm(cluster.helm, ['uninstall', 'gpugate', '-n', 'gpugate', '--wait', '--timeout', '5m']);
    await whenReady([], async () => cluster.kubelet.pods().length === 0, 60_000);
    await stream.phase('after', 'no');
    await sleep(2_000);
    counts = await stream.stop();
    const left =
      'mutatingwebhookconfigurations,validatingwebhookconfigurations,deployments,services,pods,jobs,gpupolicies';
    const found = await mustKubectl(cluster.plane.kubectl, [
      'get',
      left,
      '-A',
      '-o',
      'name',
      '-l',
      'app.kubernetes.io/name=gpugate',
    ]);
    expect(found.trim()).toBe('');
  });

  test('none of them fails that should not, and none slips by', async () => {
    console.log(table(counts));
    const of = (outcome: keyof Counts['outcomes']) => counts.reduce((sum, each) => sum + each.outcomes[outcome], 0);
    expect(counts.flatMap(({ examples }) => examples)).toEqual([]);
    expect(of('refused wrongly') + of('let by wrongly') + of('refused unasked')).toBe(0);
    expect(counts.map(({ troubles }) => troubles).filter((each) => Object.keys(each).length > 0)).toEqual([]);
    expect(of('right') + of('right the second time')).toBe(counts.reduce((sum, { sent }) => sum + sent, 0));
  });
});

/** Whether a creation that has to be refused is. */
async function refuses({ api }: Installed): Promise<boolean> {
  const { namespace, object } = creation(2);
  const { code } = await api('POST', `/api/v1/namespaces/${namespace}/pods?dryRun=All`, object);
  return code === 403;
}

/** A copy of the chart, as it was before GpuPolicy had the field. */
async function chartWithoutTheField(dir: string): Promise<string> {
  const chart = join(dir, 'earlier-chart');
  await cp(CHART, chart, { recursive: true });
  const file = join(chart, 'crds/gpupolicies.yaml');
  const resource = parse(await readFile(file, 'utf8'));
  const { spec } = resource.spec.versions[0].schema.openAPIV3Schema.properties;
  for (const field of Object.keys(NEW_FIELD)) {
    expect(spec.properties).toHaveProperty(field);
    delete spec.properties[field];
  }
  await writeFile(file, stringify(resource));
  return chart;
}
