import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { register } from '../cluster/gpugate.ts';
import { type Governed, pod, startGoverned } from './governed.ts';

const POLICY = `
apiVersion: gpugate.dev/v1alpha1
kind: GpuPolicy
metadata: { name: arithmetic }
spec: { visibleDevices: deny }
`;

/** Spellings of a count: common ones often, every shape that the Go parser reads, and much that it does not. */
const value = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.constantFrom('1', '2', '0', 1, 2, 0, '8', '1000m', '1.0', '1e0', '+1', '01', ' 1', '0.1k', '1Ki'),
  },
  {
    weight: 3,
    arbitrary: fc.constantFrom(
      '0.5',
      0.5,
      '500m',
      '1500m',
      '5e-1',
      '0.9999',
      '0.0001',
      '1n',
      '999u',
      '0.0009765625Ki',
      '1.5',
    ),
  },
  { weight: 2, arbitrary: fc.constantFrom('-1', -1, '-0', '-0.5', '-1000m', '-0.0001') },
  {
    weight: 2,
    arbitrary: fc.constantFrom(
      '1e19',
      '9223372036854775808',
      '99999999999999999999',
      '8Ei',
      '1E',
      '2147483648',
      '1e100',
      '9223372036854775807.5',
    ),
  },
  { weight: 1, arbitrary: fc.constantFrom('', 'one', '0x1', true, '1 GPU', '1e', '١', '--1', [1], { a: 1 }) },
  { weight: 1, arbitrary: fc.double({ min: 0, max: 16, noNaN: true }).map((number) => Number(number.toFixed(3))) },
);
const name = fc.constantFrom(
  'nvidia.com/gpu',
  'nvidia.com/gpu',
  'nvidia.com/mig-1g.10gb',
  'amd.com/gpu',
  'gpu.intel.com/i915',
);
const list = fc.dictionary(name, value, { maxKeys: 2 });
const resources = fc.oneof(
  fc.record({ limits: list, requests: list }, { requiredKeys: [] }),
  // The same value on both sides is what people mean; left to chance it would be rare.
  list.map((both) => ({ limits: both, requests: both })),
);
const pods = fc.array(resources, { minLength: 1, maxLength: 3 }).chain((all) =>
  fc.nat(all.length - 1).map((inits) => {
    const containers = all.map((each, index) => ({
      name: `c${index}`,
      image: 'registry.example/x:1',
      resources: each,
    }));
    return {
      containers: containers.slice(inits),
      ...(inits > 0 ? { initContainers: containers.slice(0, inits) } : {}),
    };
  }),
);
const RUNS = 600;

/** What gpugate refuses though the API server would accept it: docs/quantities.md and the pages of these rules say so. */
const STRICTER = new Set(['GPU003', 'GPU007']);

describe('GPU arithmetic against the real API server', () => {
  let cluster: Governed;
  beforeAll(async () => {
    const policies = await mkdtemp(join(tmpdir(), 'gpugate-policies-'));
    await writeFile(join(policies, 'arithmetic.yaml'), POLICY);
    cluster = await startGoverned({ policies, registered: false });
    await cluster.must('label namespace team-training gpugate.dev/policy=arithmetic --overwrite');
  });
  afterAll(() => cluster?.stop());

  const samples = fc.sample(pods, { numRuns: RUNS, seed: 20261129 });
  const send = async (namespace: string) => {
    const answers = [];
    for (const spec of samples) {
      const { containers, ...rest } = spec;
      const object = pod('p', namespace, containers, rest);
      answers.push(await cluster.api('POST', `/api/v1/namespaces/${namespace}/pods?dryRun=All`, object));
    }
    return answers;
  };

  test(`${RUNS} combinations of resources: the same are accepted with gpugate and without`, {
    timeout: 300_000,
  }, async () => {
    const bare = await send('team-free');
    const accepted = bare.filter(({ code }) => code === 201).length;
    expect(accepted, 'a fair share of both').toBeGreaterThan(RUNS / 10);
    expect(accepted).toBeLessThan((RUNS * 9) / 10);

    await register(cluster.plane, cluster.gpugate);
    const ungoverned = await send('team-free');
    const governed = await send('team-training');
    let explained = 0;
    let stricter = 0;
    for (const [index, spec] of samples.entries()) {
      const told = JSON.stringify(spec);
      const without = bare[index]?.code === 201;
      expect(ungoverned[index]?.code === 201, `without a policy: ${told}`).toBe(without);
      const reasons: string[] = (governed[index]?.body.details?.causes ?? []).map(
        ({ reason }: { reason: string }) => reason,
      );
      if (reasons.some((reason) => reason?.startsWith('GPU'))) explained++;
      if (without && governed[index]?.code !== 201) {
        stricter++;
        expect(reasons.length, told).toBeGreaterThan(0);
        for (const reason of reasons) expect([...STRICTER], told).toContain(reason);
      } else {
        expect(governed[index]?.code === 201, `with a policy: ${told}`).toBe(without);
      }
    }
    console.log(
      `accepted ${accepted} of ${RUNS}; explained by gpugate ${explained}; stricter than the API server ${stricter}`,
    );
    expect(explained).toBeGreaterThan(0);
    expect(stricter).toBeGreaterThan(0);
  });
});
