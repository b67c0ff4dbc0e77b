import { cp, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { XMLParser, XMLValidator } from 'fast-xml-parser';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { gpugate } from './gpugate.ts';

const SCENARIOS = fileURLToPath(new URL('../scenarios', import.meta.url));
const made: string[] = [];
let dir: string;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'gpugate-test-verb-'));
  made.push(dir);
  for (const name of ['whole-gpu-becomes-a-slice', 'fraction-in-time-slicing']) {
    await cp(join(SCENARIOS, name), join(dir, name), { recursive: true });
  }
});
afterAll(() => Promise.all(made.map((folder) => rm(folder, { recursive: true }))));

const expected = (name = 'whole-gpu-becomes-a-slice') => join(dir, name, 'expected.yaml');
async function edit(file: string, from: string, to: string): Promise<void> {
  const text = await readFile(file, 'utf8');
  expect(text).toContain(from);
  await writeFile(file, text.replace(from, to));
}

describe('gpugate test', () => {
  it('passes with 0 when every scenario does', async () => {
    const { code, stdout, stderr } = await gpugate(['test', dir]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toMatch(
      /^PASS .*fraction-in-time-slicing .*\nPASS .*whole-gpu-becomes-a-slice .*\n\n2 scenarios: 2 passed\n$/,
    );
  });

  it('fails with 1, and says what was found instead', async () => {
    await edit(expected(), 'changes: [GPU110]', 'changes: [GPU121]');
    const { code, stdout } = await gpugate(['test', dir]);
    expect(code).toBe(1);
    expect(stdout).toContain('       changes: expected GPU121; found GPU110\n');
    expect(stdout).toContain('2 scenarios: 1 passed, 1 failed\n');
  });

  it('ends with 3 when a scenario cannot be read, and runs the others', async () => {
    await writeFile(expected(), 'description: [\n');
    const { code, stdout } = await gpugate(['test', dir, '-o', 'json']);
    expect(code).toBe(3);
    expect(JSON.parse(stdout)).toMatchObject({ passed: 1, failed: 0, unreadable: 1 });
  });

  it('runs those that --run names', async () => {
    const { stdout } = await gpugate(['test', dir, '--run', 'slice$', '-o', 'json']);
    expect(JSON.parse(stdout).scenarios).toMatchObject([{ folder: join(dir, 'whole-gpu-becomes-a-slice') }]);
  });

  it.each([
    ['no scenario is there', ['test', join(SCENARIOS, '../reviews')], 3, /no scenario in/],
    ['none matches', ['test', SCENARIOS, '--run', 'no-such'], 3, /none of \d+ scenarios matches --run no-such/],
    ['the folder is not there', ['test', '/no/such'], 3, /\/no\/such: there is no such folder/],
    ['the expression is broken', ['test', '--run', '('], 2, /Invalid regular expression/],
    ['the format is unknown', ['test', '-o', 'yaml'], 2, /table, junit, json/],
    ['an update has a format', ['test', SCENARIOS, '--update', '-o', 'json'], 2, /leave -o out/],
  ])('stops when %s', async (_what, args, code, message) => {
    expect(await gpugate(args)).toMatchObject({ code, stdout: '', stderr: expect.stringMatching(message) });
  });

  it('shows the difference and writes it with --update', async () => {
    const before = await readFile(expected(), 'utf8');
    await edit(expected(), 'changes: [GPU110]', 'changes: [GPU121]');
    const { code, stdout } = await gpugate(['test', dir, '--update']);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^-changes: \[GPU121\]$/m);
    expect(stdout).toMatch(/^\+ {2}- GPU110$/m);
    expect(await readFile(expected(), 'utf8')).toBe(before.replace(' [GPU110]', '\n  - GPU110'));
  });

  it('gives several outputs in one run', async () => {
    const file = join(dir, 'report.xml');
    const { code, stdout } = await gpugate(['test', dir, '-o', 'table', '-o', `junit=${file}`]);
    expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringContaining('2 passed') });
    const report = await readFile(file, 'utf8');
    expect(XMLValidator.validate(report)).toBe(true);
    const { testsuites } = new XMLParser({ ignoreAttributes: false }).parse(report);
    expect(testsuites).toMatchObject({ '@_tests': '2', '@_failures': '0', testsuite: { testcase: { length: 2 } } });
    expect(await gpugate(['test', dir, '-o', 'junit=/no/such/report'])).toMatchObject({
      code: 4,
      stderr: expect.stringContaining('/no/such/report cannot be written: there is no such folder'),
    });
  });

  it('uses colours only where they are asked for', async () => {
    expect((await gpugate(['test', dir], { FORCE_COLOR: '1' })).stdout).toContain('\u001b[32mPASS');
    expect((await gpugate(['test', dir], { NO_COLOR: '1' })).stdout).not.toContain('\u001b');
    expect((await gpugate(['test', dir, '--color', 'always'])).stdout).toContain('\u001b[32mPASS');
  });
});

describe('gpugate test init', () => {
  const manifest = `apiVersion: v1
kind: ServiceAccount
metadata: { name: infer }
---
# What the chart makes.
apiVersion: apps/v1
kind: Deployment
metadata: { name: infer, namespace: team-b }
spec:
  template:
    spec:
      containers: [{ name: infer, image: x, resources: { limits: { nvidia.com/gpu: 500m } } }]
---
apiVersion: v1
kind: List
items:
  - { apiVersion: v1, kind: Pod, metadata: { generateName: train- }, spec: { containers: [{ name: c, image: x, resources: { limits: { nvidia.com/gpu: 1 } } }] } }
  - { apiVersion: v1, kind: Namespace, metadata: { name: team-b, labels: { gpugate.dev/mig-profile: 1g.10gb } } }
`;

  it('makes scenarios that pass, and overwrites none', async () => {
    const file = join(dir, 'manifest.yaml');
    const scenarios = join(dir, 'made');
    await writeFile(file, manifest);
    const { code, stdout } = await gpugate(['test', 'init', file, '--dir', scenarios]);
    expect(code).toBe(0);
    expect(stdout).toContain(`${scenarios}/deployment-infer: refused, GPU002\n`);
    expect(stdout).toContain(`${scenarios}/pod-train-: allowed, GPU110\n`);
    expect(await readdir(join(scenarios, 'deployment-infer'))).toEqual([
      'expected.yaml',
      'input.yaml',
      'namespace.yaml',
    ]);
    const input = await readFile(join(scenarios, 'deployment-infer/input.yaml'), 'utf8');
    expect(input).toMatch(/^# What the chart makes\.\napiVersion: apps\/v1\n/);
    expect(await gpugate(['test', scenarios])).toMatchObject({ code: 0, stdout: expect.stringContaining('2 passed') });
    const again = await gpugate(['test', 'init', file, '--dir', scenarios]);
    expect(again).toMatchObject({ code: 2, stderr: expect.stringContaining('is already there') });
  });

  it.each([
    ['that is not there', undefined, /manifest\.yaml: there is no such file/],
    ['without a pod', 'kind: ConfigMap\n', /has no Pod and no workload/],
    ['that is not YAML', 'a: 1\nb: [\n', /manifest\.yaml:\d+: /],
  ])('ends with 3 for a manifest %s', async (_what, text, message) => {
    const file = join(dir, 'manifest.yaml');
    if (text !== undefined) await writeFile(file, text);
    expect(await gpugate(['test', 'init', file])).toMatchObject({ code: 3, stderr: expect.stringMatching(message) });
  });
});
