import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { type Api, apiOf } from '../cluster/api.ts';
import { whenReady } from '../cluster/component.ts';
import { type ControlPlane, startControlPlane } from '../cluster/controlplane.ts';
import { CHART, type Helm, helmFor, mustHelm } from '../cluster/helm.ts';
import { mustKubectl } from '../cluster/kubectl.ts';
import { blocksOf } from '../unit/pages.ts';

// Real are the scheduler, the Deployment's controller and evictions. What stands in for kubelets says of every pod that it is ready as soon as it
// has a node, and lets it go at once.
let plane: ControlPlane;
let helm: Helm;
let api: Api;
let kubelets: ReturnType<typeof startKubelets>;
const PODS = '/api/v1/namespaces/gpugate/pods';
const get = async (path: string) => (await api('GET', path)).body;
const deployment = () => get('/apis/apps/v1/namespaces/gpugate/deployments/gpugate');
const kubectl = (args: string) => mustKubectl(plane.kubectl, args.split(' '));

beforeAll(async () => {
  plane = await startControlPlane({ log: console.log });
  helm = await helmFor(plane.dir, plane.kubeconfig, console.log);
  api = apiOf(plane);
  for (const name of ['one', 'two']) await api('POST', '/api/v1/nodes', node(name));
  await kubectl('create namespace gpugate');
  kubelets = startKubelets();
});
afterAll(async () => {
  await kubelets?.stop();
  await plane?.stop();
});
afterEach(async () => {
  await kubectl('uncordon one two');
  await mustHelm(helm, ['uninstall', 'gpugate', '--namespace', 'gpugate', '--no-hooks', '--wait']);
  await whenReady([], async () => (await get(PODS)).items.length === 0, 60_000);
});

const release = (...settings: readonly string[]) =>
  mustHelm(helm, [
    ...['upgrade', '--install', 'gpugate', CHART, '--namespace', 'gpugate', '--no-hooks'],
    ...settings.flatMap((setting) => ['--set', setting]),
  ]);

/** Waits until all of `replicas` are there, of the newest template, and available. */
const rolledOut = (replicas: number) =>
  whenReady(
    [],
    async () => {
      const { metadata, status } = await deployment();
      const numbers = [status.replicas, status.updatedReplicas, status.availableReplicas];
      return status.observedGeneration === metadata.generation && numbers.every((number) => number === replicas);
    },
    60_000,
  );

describe("an upgrade on the nodes' own network, where every node has a replica", () => {
  test.each([
    [2, 1],
    [1, 0],
  ])('gets through with %i', async (replicas, fewest) => {
    if (replicas === 1) await kubectl('cordon two');
    const values = ['hostNetwork=true', `replicas=${replicas}`];
    await release(...values);
    await rolledOut(replicas);
    kubelets.fewest();
    await release(...values, 'podAnnotations.upgraded=yes');
    await rolledOut(replicas);
    expect(kubelets.fewest()).toBe(fewest);
  });
});

describe('how many replicas there are', () => {
  const replicas = async () => (await deployment()).spec.replicas;

  test('is not changed by an upgrade where replicas is null', async () => {
    await release('replicas=null');
    await rolledOut(1);
    // As an autoscaler does.
    await kubectl('scale deployment gpugate -n gpugate --replicas=3');
    await release('replicas=null', 'logLevel=debug');
    expect(await replicas()).toBe(3);
  });

  test('is handed over by a scale that comes before the upgrade', async () => {
    await release('replicas=2');
    await kubectl('scale deployment gpugate -n gpugate --replicas=3');
    await release('replicas=null');
    expect(await replicas()).toBe(3);
  });

  test('can be left to the autoscaler of docs/operations.md', async () => {
    const page = readFileSync(new URL('../../docs/operations.md', import.meta.url), 'utf8');
    const autoscaler = blocksOf(page).find(({ text }) => text.includes('kind: HorizontalPodAutoscaler'))?.text ?? '';
    await release('replicas=null');
    const args = ['apply', '--server-side', '--dry-run=server', '--validate=strict', '-f', '-'];
    expect(await mustKubectl(plane.kubectl, args, autoscaler)).toContain('horizontalpodautoscaler.autoscaling/gpugate');
  });

  test('is a conflict where replicas has a number too', async () => {
    await release('replicas=2');
    await kubectl('scale deployment gpugate -n gpugate --replicas=3');
    await expect(release('replicas=2')).rejects.toThrow(
      /conflict with "kubectl" with subresource "scale".*\.spec\.replicas/,
    );
  });
});

test.each(['1', 'null'])('one replica does not keep its node from being drained: %s', async (replicas) => {
  await release(`replicas=${replicas}`);
  await rolledOut(1);
  const [{ spec, metadata }] = (await get(PODS)).items;
  await kubectl(`drain ${spec.nodeName} --timeout=60s`);
  await whenReady(
    [],
    async () => (await get(PODS)).items.every((pod: typeof spec) => pod.metadata.uid !== metadata.uid),
    60_000,
  );
  await rolledOut(1);
});

function startKubelets() {
  let stopped = false;
  let fewest = Number.POSITIVE_INFINITY;
  const look = async () => {
    while (!stopped) {
      const { items = [] } = await get(PODS);
      let ready = 0;
      for (const pod of items) {
        const path = `${PODS}/${pod.metadata.name}`;
        if (pod.metadata.deletionTimestamp && pod.spec.nodeName) await api('DELETE', path, { gracePeriodSeconds: 0 });
        else if (pod.spec.nodeName) {
          ready += 1;
          if (pod.status.phase !== 'Running') await api('PATCH', `${path}/status`, RUNNING, MERGE);
        }
      }
      fewest = Math.min(fewest, ready);
      await sleep(50);
    }
  };
  const looking = look();
  return {
    /** How few replicas were there at once since the last call. */
    fewest: () => {
      const told = fewest;
      fewest = Number.POSITIVE_INFINITY;
      return told;
    },
    stop: async () => {
      stopped = true;
      await looking;
    },
  };
}

const MERGE = 'application/merge-patch+json';
const RUNNING = {
  status: {
    phase: 'Running',
    conditions: [
      { type: 'Ready', status: 'True', lastTransitionTime: '2026-01-01T00:00:00Z' },
      { type: 'ContainersReady', status: 'True', lastTransitionTime: '2026-01-01T00:00:00Z' },
    ],
  },
};

function node(name: string) {
  const amounts = { cpu: '8', memory: '16Gi', pods: '110' };
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name, labels: { 'kubernetes.io/os': 'linux', 'kubernetes.io/hostname': name } },
    status: { capacity: amounts, allocatable: amounts, conditions: [{ type: 'Ready', status: 'True' }] },
  };
}
