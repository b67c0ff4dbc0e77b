import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { changed, lookedAt } from './changed.ts';
import { runScenario, scenarioFolders } from './run.ts';
import { updated } from './write.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'gpugate-scenario-'));
  await write('input.yaml', {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'train' },
    spec: { containers: [{ name: 'train', image: 'x', resources: { limits: { cpu: 2, 'nvidia.com/gpu': 1 } } }] },
  });
  const labels = { 'gpugate.dev/mig-profile': '1g.10gb' };
  await write('namespace.yaml', { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'team-a', labels } });
});
afterEach(() => rm(folder, { recursive: true }));

const write = (file: string, content: object | string) =>
  writeFile(join(folder, file), typeof content === 'string' ? content : JSON.stringify(content));

const slice = 'nvidia.com/mig-1g.10gb';
const right = {
  description: 'a GPU becomes a slice',
  allowed: true,
  changes: ['GPU110'],
  warnings: [`GPU110 container "train": nvidia.com/gpu 1 -> ${slice} 1`],
  patched: { spec: { containers: [{ resources: { limits: { [slice]: '1', 'nvidia.com/gpu': null } } }] } },
};

/** Expectations that are wrong in one thing, and what is said of it. */
const wrong: readonly (readonly [string, object, readonly string[]])[] = [
  ['another verdict', { allowed: false }, ['allowed: expected false, found true']],
  ['a change that is not made', { changes: ['GPU121'] }, ['changes: expected GPU121; found GPU110']],
  ['a change that is not expected', { changes: undefined }, ['changes: expected none; found GPU110']],
  [
    'a finding that is not there',
    { findings: [{ code: 'GPU002', severity: 'error' }] },
    ['findings: expected GPU002 error; found none'],
  ],
  ['a denial that is not there', { message: 'no' }, ['message: other text', '  expected "no"', '  found    ""']],
  [
    'a field that should be gone',
    { patched: { spec: null } },
    [expect.stringMatching(/^patched\.spec: expected none, found /)],
  ],
  [
    'a field with another value',
    { patched: { spec: { containers: [{ resources: { limits: { [slice]: 1 } } }] } } },
    [`patched.spec.containers[0].resources.limits[${slice}]: expected 1, found "1"`],
  ],
  [
    'a list of another length',
    { patched: { spec: { containers: [] } } },
    [expect.stringMatching(/^patched\.spec\.containers: expected 0 items, found 1: /)],
  ],
  [
    'an object that should come out as it went in',
    { untouched: true },
    [expect.stringMatching(/^untouched: expected no change, found .*\/spec\/containers\/0\/resources\/limits/)],
  ],
  ['another verdict on what came out', { validated: false }, ['validated: expected false, found true']],
];

describe('a scenario', () => {
  it('passes when all is as expected', async () => {
    await write('expected.yaml', right);
    expect(await runScenario(folder)).toMatchObject({ state: 'passed', problems: [] });
  });

  it.each(wrong)('fails for %s', async (_what, part, problems) => {
    await write('expected.yaml', { ...right, ...part });
    expect(await runScenario(folder)).toMatchObject({ state: 'failed', problems });
  });

  it('fails for a field, a value or a container of a finding', async () => {
    await write('input.yaml', (await readFile(join(folder, 'input.yaml'), 'utf8')).replace('gpu":1', 'gpu":0.5'));
    const finding = { code: 'GPU002', severity: 'error', field: 'spec', value: '1', container: 'other' };
    await write('expected.yaml', { description: 'a fraction', allowed: false, findings: [finding] });
    expect((await runScenario(folder)).problems).toEqual([
      'findings[0].field: expected "spec", found "spec.containers[0].resources.limits[nvidia.com/gpu]"',
      'findings[0].value: expected "1", found "0.5"',
      'findings[0].container: expected "other", found "train"',
    ]);
  });

  it.each([
    [
      'expected.yaml',
      'description: a\nalowed: true\n',
      /expected\.yaml:1: allowed is missing; it is true or false\n.*expected\.yaml:2: alowed is .*\. Did you mean allowed\?/,
    ],
    ['expected.yaml', 'description: [', /expected\.yaml:1: /],
    ['input.yaml', '- 1\n', /input\.yaml: holds no Kubernetes object/],
    ['namespace.yaml', '{"kind":"Namespace"}', /namespace\.yaml:1: metadata is missing/],
    ['policy.yaml', '{"kind":"GpuPolicy"}', /policy\.yaml:1: /],
    ['limits.yaml', 'a: [', /limits\.yaml:\d+: /],
    ['input.yaml', 'spec: &s { a: *s }', /input\.yaml: an alias stands within its own anchor$/],
  ])('with a broken %s is unreadable, with the place of the mistake', async (file, text, problems) => {
    await write('expected.yaml', right);
    await write(file, text);
    const { state, problems: found } = await runScenario(folder);
    expect(state).toBe('unreadable');
    expect(found.join('\n')).toMatch(problems);
  });

  it('is judged in the namespace of its input, by the policies that all have in common', async () => {
    const input = await readFile(join(folder, 'input.yaml'), 'utf8');
    await write('input.yaml', input.replace('"name":"train"}', '"name":"train","namespace":"team-b"}'));
    const namespace = (name: string, policy: string) =>
      `apiVersion: v1\nkind: Namespace\nmetadata: { name: ${name}, labels: { gpugate.dev/policy: ${policy} } }\n`;
    await write('namespace.yaml', `${namespace('team-a', 'no-such')}---\n${namespace('team-b', 'slices')}`);
    const policies = join(folder, 'policies.yaml');
    await write(
      'policies.yaml',
      'apiVersion: gpugate.dev/v1alpha1\nkind: GpuPolicy\nmetadata: { name: slices }\nspec: { sharing: mig, mig: { profile: 1g.10gb } }\n',
    );
    await write('expected.yaml', right);
    expect((await runScenario(folder)).problems).not.toEqual([]);
    expect((await runScenario(folder, { policies })).problems).toEqual([]);
  });
});

describe('an expectation that is updated', () => {
  // The policy of the scenario renames `nvidia.com/gpu` to a slice.
  it.each([
    ['the slice has another name now', { patched: limits({ 'nvidia.com/mig-7g.80gb': '1' }) }],
    ['nothing was changed before', { changes: [], patched: { spec: {} } }],
    ['it was untouched before', { changes: [], patched: undefined, untouched: true }],
  ])('holds on to what the policy makes of it, where %s', async (_what, part) => {
    await write('expected.yaml', { ...right, ...part });
    const result = await runScenario(folder);
    if (result.state === 'unreadable') throw new Error(result.problems.join('\n'));
    const { patched } = parse(updated(JSON.stringify({ ...right, ...part }), result.expected, result.outcome));
    expect(patched).toMatchObject(limits({ [slice]: '1' }));
  });

  it.each(wrong)('then passes, after %s', async (_what, part) => {
    await write('expected.yaml', { ...right, ...part });
    const result = await runScenario(folder);
    if (result.state === 'unreadable') throw new Error(result.problems.join('\n'));
    await write('expected.yaml', updated(JSON.stringify({ ...right, ...part }), result.expected, result.outcome));
    expect((await runScenario(folder)).problems).toEqual([]);
  });

  it('keeps every other byte, comments and what was not looked at', async () => {
    const text = (changes: string) =>
      `# why\n${changes}allowed:   true # so\ndescription: a slice\n\nwebhook:    mutate\n`;
    const update = async (changes: string) => {
      await write('expected.yaml', text(changes));
      const result = await runScenario(folder);
      if (result.state === 'unreadable') throw new Error(result.problems.join('\n'));
      return updated(text(changes), result.expected, result.outcome);
    };
    expect(await update('changes: [ GPU121 ] # a list\n')).toBe(text('changes:\n  - GPU110 # a list\n'));
    expect(await update('changes:\n  - GPU121 # one\n# next\n')).toBe(text('changes:\n  - GPU110\n# next\n'));
    expect(await update('')).toBe(`${text('')}changes:\n  - GPU110\n`);
    const input = await readFile(join(folder, 'input.yaml'), 'utf8');
    await write('input.yaml', input.replace('nvidia.com/gpu', 'memory'));
    for (const changes of ['changes: [GPU110]\n', 'changes:\n  - GPU110\n'])
      expect(await update(changes)).toBe(text(''));
  });
});

const limits = (of: unknown) => ({ spec: { containers: [{ resources: { limits: of } }] } });

it('what has changed, and what is in the same fields now', () => {
  const before = { a: 1, b: { c: 1, d: [1, 2] }, e: [{ f: 1 }, { g: 1, h: 2 }], i: [1] };
  const after = { a: 1, b: { c: 2, d: [1] }, e: [{ f: 1 }, { g: 3, h: 2 }], j: 'new' };
  const difference = { b: { c: 2, d: [1] }, e: [{}, { g: 3 }], i: null, j: 'new' };
  expect(changed(before, after)).toEqual(difference);
  expect(lookedAt(difference, before, after)).toEqual(difference);
  expect(lookedAt({ a: 7, b: { c: null }, e: [{}, {}] }, before, after)).toEqual({ a: 1, b: { c: 2 }, e: [{}, {}] });
  expect(lookedAt({ a: 7 }, before, after, true)).toEqual({ a: 1, ...difference });
});

it('a field that was renamed is looked at under its new name, and nothing else', () => {
  const pod = (limits: unknown) => ({ a: 1, spec: [{ name: 'c', limits }] });
  const expected = (limits: unknown) => ({ spec: [{ limits }] });
  const named = expected({ gpu: null, small: 1 });
  expect(lookedAt(named, pod({ gpu: 1, cpu: 2 }), pod({ large: 1, cpu: 2 }))).toEqual(
    expected({ gpu: null, large: 1 }),
  );
  expect(lookedAt(expected({ gpu: null }), pod({ gpu: 1 }), pod({ large: 1 }))).toEqual(expected({ gpu: null }));
});

it('scenarios are found at any depth, and not in hidden folders or packages', async () => {
  for (const path of ['a', 'b/c', '.git/x', 'node_modules/p', 'empty']) {
    await mkdir(join(folder, path), { recursive: true });
    if (path !== 'empty') await write(join(path, 'expected.yaml'), right);
  }
  expect(await scenarioFolders([folder, join(folder, 'a')])).toEqual([join(folder, 'a'), join(folder, 'b/c')]);
});
