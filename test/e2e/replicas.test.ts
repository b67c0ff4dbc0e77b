import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Gpugate, register, startGpugate } from '../cluster/gpugate.ts';
import { nodes } from '../cluster/nodes.ts';
import { balancer, lagging, type TcpProxy } from '../cluster/proxies.ts';
import { container, type Governed, pod, startGoverned } from './governed.ts';

const CREATIONS = Number(process.env.GPUGATE_CREATIONS ?? 10_000);
const WORKERS = 12;
const LAG_MS = 300;
const TRIES = 6;

/**
 * Two replicas behind one address, one of them seeing the cluster 300 ms late, while policies, labels and nodes change all
 * the time: what the one changed is validated by the other, by another policy.
 */
describe('two replicas with different caches', () => {
  let cluster: Governed;
  let second: Gpugate;
  const proxies: TcpProxy[] = [];

  beforeAll(async () => {
    cluster = await startGoverned({ registered: false });
    const { plane, gpugate } = cluster;
    const late = await lagging(Number(new URL(plane.server).port), LAG_MS);
    const kubeconfig = join(plane.dir, 'late.kubeconfig');
    await writeFile(
      kubeconfig,
      (await readFile(plane.kubeconfig, 'utf8')).replaceAll(plane.server, `https://127.0.0.1:${late.port}`),
    );
    second = await startGpugate({ ...plane, kubeconfig }, { certDir: gpugate.certDir });
    const ports = [gpugate, second].map(({ url }) => Number(new URL(url).port));
    const front = await balancer(ports);
    proxies.push(late, front);
    await register(plane, { url: `https://127.0.0.1:${front.port}`, certDir: gpugate.certDir });
  });
  afterAll(async () => {
    await second?.stop();
    await cluster?.stop();
    for (const proxy of proxies) await proxy.close();
  });

  test(`no wrong refusal in ${CREATIONS} creations`, { timeout: 20 * 60_000 }, async () => {
    const counts = { accepted: 0, again: 0, wrong: [] as string[] };
    let left = CREATIONS;
    const create = async (number: number) => {
      const namespace = number % 2 === 0 ? 'team-notebooks' : 'team-inference';
      const object = pod(`p${number}`, namespace, [container('c')]);
      for (let attempt = 1; ; attempt++) {
        const { code, body } = await cluster.api('POST', `/api/v1/namespaces/${namespace}/pods?dryRun=All`, object);
        if (code === 201) return attempt;
        if (!/try again/i.test(body.message) || attempt === TRIES) throw new Error(`${code} ${body.message}`);
        await sleep(2 * LAG_MS);
      }
    };
    const worker = async () => {
      while (left > 0) {
        const number = left--;
        try {
          if ((await create(number)) > 1) counts.again++;
          counts.accepted++;
        } catch (error) {
          counts.wrong.push((error as Error).message);
        }
      }
    };
    const done = new AbortController();
    const changing = changes(cluster, done.signal);
    await Promise.all(Array.from({ length: WORKERS }, worker));
    done.abort();
    const changed = await changing;

    const shares = await Promise.all([cluster.gpugate.reviews(), second.reviews()]);
    console.log(
      `${CREATIONS} creations, ${changed} changes of policies, labels and nodes: ${counts.accepted} accepted (${counts.again} of them after "try again"), ${counts.wrong.length} refused wrongly; reviews by replica ${shares.join(' and ')}`,
    );
    expect(counts.wrong).toEqual([]);
    expect(changed).toBeGreaterThan(10);
    expect(Math.min(...shares), 'both replicas were asked').toBeGreaterThan(CREATIONS / 10);
  });
});

/** Changes the cluster until it is told to stop; returns how often. */
async function changes({ api }: Governed, signal: AbortSignal): Promise<number> {
  const merge = 'application/merge-patch+json';
  const shared = nodes.find(({ metadata }) => metadata.name === 't4-shared');
  const joining = {
    ...shared,
    metadata: {
      ...shared?.metadata,
      name: 'joining',
      labels: { ...shared?.metadata.labels, 'nvidia.com/gpu.memory': '8192' },
    },
  };
  const policy = '/apis/gpugate.dev/v1alpha1/gpupolicies';
  const steps: (() => Promise<unknown>)[] = [
    () => api('PATCH', `${policy}/notebooks`, { spec: { memoryCap: { amount: '2Gi' } } }, merge),
    () =>
      api(
        'PATCH',
        '/api/v1/namespaces/team-inference',
        { metadata: { labels: { 'gpugate.dev/mig-profile': '3g.40gb' } } },
        merge,
      ),
    () => api('POST', '/api/v1/nodes', joining),
    () => api('PATCH', `${policy}/notebooks`, { spec: { memoryCap: { amount: 'auto' } } }, merge),
    () =>
      api(
        'PATCH',
        '/api/v1/namespaces/team-inference',
        { metadata: { labels: { 'gpugate.dev/mig-profile': null } } },
        merge,
      ),
    () => api('DELETE', '/api/v1/nodes/joining'),
    () => api('PATCH', `${policy}/latency-inference`, { spec: { mig: { allowedProfiles: ['1g.10gb'] } } }, merge),
    () =>
      api(
        'PATCH',
        `${policy}/latency-inference`,
        { spec: { mig: { allowedProfiles: ['1g.10gb', '2g.20gb', '3g.40gb'] } } },
        merge,
      ),
  ];
  let done = 0;
  while (!signal.aborted) {
    await steps[done % steps.length]?.();
    done++;
    await sleep(400);
  }
  return done;
}
