import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { addNamespaces } from '../cluster/gpugate.ts';
import { mustKubectl } from '../cluster/kubectl.ts';
import { disturbances } from './chaos/disturbances.ts';
import { keepLogs } from './chaos/logs.ts';
import { settled } from './chaos/settled.ts';
import { demoPolicies, type Installed, install, startInstallable } from './installed.ts';
import { startStream, table } from './stream.ts';

/** Creations a second. The load is 50 at least; a busy machine may leave out some. */
const RATE = 80;

/** All disturbances take about three minutes; with more seconds than that they come again. */
const SECONDS = Number(process.env.GPUGATE_CHAOS_SECONDS ?? 0);

/** One kind of them, for those who look for the cause of something. */
const only = new RegExp(process.env.GPUGATE_CHAOS_ONLY ?? '');

const VALUES = { policies: demoPolicies(), shutdownDelay: '5s', certificates: { own: { lifetime: '30s' } } };

describe('under a load of creations', () => {
  let cluster: Installed;
  beforeAll(async () => {
    cluster = await startInstallable({ preload: fileURLToPath(new URL('chaos/clock.ts', import.meta.url)) });
    await install(cluster, VALUES);
    await addNamespaces(cluster.plane);
    for (const namespace of ['team-notebooks', 'team-training', 'team-free']) {
      const wait = ['wait', '--for=create', 'serviceaccount/default', '-n', namespace, '--timeout=60s'];
      await mustKubectl(cluster.plane.kubectl, wait);
    }
    await settled(cluster);
    await sleep(2_000); // The API server takes in the configurations.
  });
  afterAll(() => cluster?.stop());

  test('whatever goes wrong, none is refused wrongly and none is let by wrongly', {
    timeout: 4 * 3600_000,
  }, async () => {
    const stream = startStream({ plane: cluster.plane, rate: RATE, dryRun: true });
    const started = performance.now();
    do {
      for (const { name, run } of disturbances.filter((each) => only.test(each.name))) {
        await stream.phase(name);
        await run(cluster, stream);
        await settled(cluster);
      }
    } while ((performance.now() - started) / 1000 < SECONDS);
    const counts = await stream.stop();

    console.log(table(counts));
    const troubles = counts.flatMap((each) =>
      Object.entries(each.troubles).map(([text, times]) => `${times} x ${text}`),
    );
    console.log(`The API server's own troubles:\n${troubles.join('\n') || 'none'}`);
    const examples = counts.flatMap((each) => each.examples.map((example) => `${each.phase}: ${example}`));
    if (examples.some((example) => !example.includes('lost with a process'))) await keepLogs(cluster);
    const sum = (outcome: keyof (typeof counts)[number]['outcomes']) =>
      counts.reduce((total, { outcomes }) => total + outcomes[outcome], 0);
    expect(sum('let by wrongly'), examples.join('\n')).toBe(0);
    expect(sum('refused wrongly'), examples.join('\n')).toBe(0);
    expect(sum('refused unasked'), examples.join('\n')).toBe(0);
    expect(sum('right')).toBeGreaterThan(1000);
  });
});
