import { existsSync } from 'node:fs';
import { basename, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { CODES } from '../../src/admission/findings.ts';
import { BOARDS } from '../../src/policy/boards.ts';
import { readPolicies } from '../../src/policy/files.ts';
import type { GpuPolicy } from '../../src/policy/schema.ts';
import { isBroken } from '../../src/policy/stored.ts';
import { readExpected } from '../../src/scenarios/expected.ts';
import { runScenario, scenarioFolders } from '../../src/scenarios/run.ts';

const ROOT = new URL('../scenarios', import.meta.url).pathname;
const folders = await scenarioFolders([ROOT]);

/** The policies of a scenario, as an admin wrote them. */
async function policiesOf(folder: string): Promise<readonly GpuPolicy[]> {
  const file = join(folder, 'policy.yaml');
  const policies = existsSync(file) ? [...(await readPolicies(file)).values()] : [];
  return policies.flatMap((policy) => (isBroken(policy) ? [] : [policy]));
}

describe('scenarios', () => {
  it('show every code', async () => {
    const expected = await Promise.all(folders.map((folder) => readExpected(join(folder, 'expected.yaml'))));
    const shown = expected.flatMap(({ findings, changes }) => [...findings.map(({ code }) => code), ...changes]);
    expect(Object.keys(CODES).filter((code) => !shown.includes(code))).toEqual([]);
  });

  it('show every board', async () => {
    const sets = await Promise.all(folders.filter((folder) => basename(folder).startsWith('board-')).map(policiesOf));
    const products = sets.flat().flatMap(({ spec }) => spec.mig?.products ?? []);
    const unseen = BOARDS.filter(({ match }) => !products.some((product) => match.some((name) => name.test(product))));
    expect(unseen.map(({ names }) => names[0])).toEqual([]);
  });

  it('show every kind of sharing', async () => {
    const specs = (await Promise.all(folders.map(policiesOf))).flat().map(({ spec }) => spec);
    const kinds = specs.map(({ sharing, mig, timeSlicing }) =>
      [sharing, mig?.exposure, timeSlicing?.resource].join(' '),
    );
    expect(kinds).toEqual(
      expect.arrayContaining([
        'exclusive  ',
        'time-slicing  nvidia.com/gpu.shared',
        'time-slicing  nvidia.com/mig-1g.10gb.shared',
        'mps  ',
        'mig resource ',
        'mig selector ',
      ]),
    );
  });

  it.each(folders.map((folder) => basename(folder)))('%s', async (name) => {
    const { state, problems } = await runScenario(join(ROOT, name));
    expect(problems).toEqual([]);
    expect(state).toBe('passed');
  });
});
