import { describe, expect, it } from 'vitest';
import type { EffectivePolicy, Mode } from '../policy/policy.ts';
import { type Decision, decide, type Phase } from './decide.ts';
import type { Change, Finding, Verdict } from './findings.ts';
import { governed } from './rules/testing.ts';

const field = 'spec';
const error: Finding = { code: 'GPU102', severity: 'error', field, message: 'too many', fix: '' };
const arithmetic: Finding = { code: 'GPU002', severity: 'error', field, message: 'half', fix: '', refusedAnyway: true };
const warning: Finding = { code: 'GPU008', severity: 'warning', field, message: 'misspelt', fix: '' };
const note: Finding = { code: 'GPU009', severity: 'note', field, message: 'zero', fix: '' };
const container = { name: 'train', field: 'spec.containers[0]', path: ['spec', 'containers', 0] };
const change: Change = {
  type: 'rename-resource',
  code: 'GPU110',
  container,
  from: 'nvidia.com/gpu',
  to: 'nvidia.com/mig-1g.10gb',
  quantity: '1',
  reason: 'renamed',
  required: true,
};
const verdict = (...parts: (Finding | Change)[]): Verdict => ({
  findings: parts.filter((part): part is Finding => !('type' in part)),
  changes: parts.filter((part): part is Change => 'type' in part),
});
const policy = (mode: Mode, templates: EffectivePolicy['templates'] = 'warn') => governed({ mode, templates });
/** The decision by codes alone. */
const codes = ({ allowed, denials, warnings, changes, announced }: Decision) => ({
  allowed,
  denials: denials.map(({ code }) => code),
  warnings: warnings.map(({ code }) => code),
  changes: changes.map(({ code }) => code),
  announced: announced.map(({ code }) => code),
});
const nothing = { allowed: true, denials: [], warnings: [], changes: [], announced: [] };

describe('a new pod', () => {
  it.each<[string, Mode, Verdict, object]>([
    [
      'enforce makes the changes and gives the warnings',
      'enforce',
      verdict(warning, note, change),
      { warnings: ['GPU008'], changes: ['GPU110'] },
    ],
    [
      'enforce refuses every error, changes nothing, and still warns',
      'enforce',
      verdict(error, arithmetic, warning, change),
      { allowed: false, denials: ['GPU102', 'GPU002'], warnings: ['GPU008'] },
    ],
    [
      'warn announces changes and tells errors as warnings',
      'warn',
      verdict(error, warning, change),
      { warnings: ['GPU102', 'GPU008'], announced: ['GPU110'] },
    ],
    [
      'warn refuses what the API server refuses anyway',
      'warn',
      verdict(arithmetic, error, change),
      { allowed: false, denials: ['GPU002'], warnings: ['GPU102'] },
    ],
    ['audit says nothing', 'audit', verdict(error, warning, change), {}],
    [
      'audit refuses what the API server refuses anyway',
      'audit',
      verdict(arithmetic, error),
      { allowed: false, denials: ['GPU002'] },
    ],
    ['nothing found is allowed', 'enforce', verdict(), {}],
  ])('%s', (_, mode, found, want) => {
    expect(codes(decide(found, policy(mode), 'mutate'))).toEqual({ ...nothing, ...want });
  });
});

describe('a final pod', () => {
  it.each<[string, Mode, Verdict, object]>([
    [
      'enforce refuses errors and missing changes, and repeats no warning',
      'enforce',
      verdict(error, warning, change),
      { allowed: false, denials: ['GPU102', 'GPU180'] },
    ],
    ['enforce lets a change pass that is not required', 'enforce', verdict({ ...change, required: false }), {}],
    ['warn refuses no missing change', 'warn', verdict(error, change), {}],
    ['audit refuses no missing change', 'audit', verdict(change), {}],
    [
      'audit refuses what the API server refuses anyway',
      'audit',
      verdict(arithmetic),
      { allowed: false, denials: ['GPU002'] },
    ],
  ])('%s', (_, mode, found, want) => {
    expect(codes(decide(found, policy(mode), 'validate'))).toEqual({ ...nothing, ...want });
  });

  it('warns where no mutating call came first', () => {
    expect(codes(decide(verdict(warning), policy('enforce'), 'validate', true))).toEqual({
      ...nothing,
      warnings: ['GPU008'],
    });
  });
});

describe('a template', () => {
  it.each<[string, Mode, EffectivePolicy['templates'], Verdict, object]>([
    ['is warned about', 'enforce', 'warn', verdict(error, arithmetic, change), { warnings: ['GPU102', 'GPU002'] }],
    ['shows what its pods will get', 'enforce', 'warn', verdict(change), { announced: ['GPU110'] }],
    [
      'is refused where the policy says so',
      'enforce',
      'deny',
      verdict(error, change),
      { allowed: false, denials: ['GPU102'] },
    ],
    [
      'is refused for arithmetic only where the policy says so',
      'warn',
      'deny',
      verdict(arithmetic),
      { warnings: ['GPU002'] },
    ],
    ['is not spoken of where the policy says off', 'enforce', 'off', verdict(error, arithmetic, change), {}],
    ['is not spoken of in audit mode', 'audit', 'deny', verdict(error, arithmetic), {}],
  ])('%s', (_, mode, templates, found, want) => {
    const decision = codes(decide(found, policy(mode, templates), 'template'));
    // What is announced of a template beside its errors is for people to weigh; it is never made.
    expect({ ...decision, announced: [] }).toEqual({ ...nothing, ...want, announced: [] });
    if ('announced' in want) expect(decision.announced).toEqual(want.announced);
    expect(decision.changes).toEqual([]);
  });
});

it.each<Phase>(['mutate', 'validate', 'template'])('%s: every finding is kept for the records', (phase) => {
  const { findings } = decide(verdict(error, warning, note), policy('audit'), phase);
  expect(findings).toEqual([error, warning, note]);
});
