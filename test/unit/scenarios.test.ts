import { describe, expect, it } from 'vitest';
import { CODES } from '../../src/admission/findings.ts';
import { BOARDS } from '../../src/policy/boards.ts';
import { differences, loadScenario, patched, policiesOf, scenarioNames } from './scenario.ts';

describe('scenarios', () => {
  it('show every code', async () => {
    const scenarios = await Promise.all(scenarioNames().map(loadScenario));
    const shown = scenarios.flatMap(({ expected }) => [
      ...expected.findings.map(({ code }) => code),
      ...expected.changes,
    ]);
    expect(Object.keys(CODES).filter((code) => !shown.includes(code))).toEqual([]);
  });

  it('show every board', async () => {
    const sets = await Promise.all(
      scenarioNames()
        .filter((name) => name.startsWith('board-'))
        .map(policiesOf),
    );
    const products = sets.flat().flatMap(({ spec }) => spec.mig?.products ?? []);
    const unseen = BOARDS.filter(({ match }) => !products.some((product) => match.some((name) => name.test(product))));
    expect(unseen.map(({ names }) => names[0])).toEqual([]);
  });

  it('show every kind of sharing', async () => {
    const specs = (await Promise.all(scenarioNames().map(policiesOf))).flat().map(({ spec }) => spec);
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

  it.each(scenarioNames())('%s', async (name) => {
    const { expected, input, ask } = await loadScenario(name);
    const judgement = await ask(expected.webhook, input);
    const findings = judgement.findings as unknown as Record<string, unknown>[];
    expect(findings.map(({ code, severity }) => ({ code, severity }))).toEqual(
      expected.findings.map(({ code, severity }) => ({ code, severity })),
    );
    for (const [index, { container, ...finding }] of expected.findings.entries()) {
      expect(findings[index]).toMatchObject({
        ...finding,
        ...(container === undefined ? {} : { container: { name: container } }),
      });
    }
    expect([...new Set(judgement.changes.map((change) => change.code))]).toEqual(expected.changes);
    expect(judgement.answer.allowed).toBe(expected.allowed);
    if (expected.message !== undefined) expect(judgement.answer.message).toBe(expected.message);
    if (expected.warnings !== undefined) expect(judgement.answer.warnings).toEqual(expected.warnings);
    const after = patched(input, judgement);
    if (expected.patched !== undefined) expect(differences(expected.patched, after)).toEqual([]);
    if (expected.untouched) expect(after).toEqual(input);
    if (!expected.allowed || expected.webhook === 'validate') return;

    const again = await ask('mutate', after);
    expect(again.answer.patch ?? [], 'a second round changes nothing').toEqual([]);
    const final = await ask('validate', after);
    expect(final.answer.allowed, final.answer.message).toBe(expected.validated);
  });
});
