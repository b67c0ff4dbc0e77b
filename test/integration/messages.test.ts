import { spawnSync } from 'node:child_process';
import { openSync } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { gpugate } from './gpugate.ts';

// What is said of a path or a name that is wrong: which one, what is wrong with it, and what is right.

const MAIN = fileURLToPath(new URL('../../src/main.ts', import.meta.url));

let dir: string;
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'gpugate-messages-'));
  await mkdir(join(dir, 'folder'));
  await mkdir(join(dir, 'scenario'));
  await writeFile(join(dir, 'scenario', 'expected.yaml'), 'description: none\nallowed: true\n');
  const contexts = ['one', 'two'].map((name) => ({ name, context: { cluster: name, user: name } }));
  await writeFile(join(dir, 'kubeconfig'), JSON.stringify({ contexts, clusters: [], users: [] }));
  await writeFile(join(dir, 'no-contexts'), JSON.stringify({ contexts: [], clusters: [], users: [] }));
  await writeFile(join(dir, 'bad-kubeconfig'), 'clusters: []\n a: b: c\n');
  await writeFile(
    join(dir, 'pod.yaml'),
    'apiVersion: v1\nkind: Pod\nmetadata: { name: a }\nspec: { containers: [] }\n',
  );
  const levels = Array.from(
    { length: 9 },
    (_, level) => `l${level + 1}: &l${level + 1} [${`*l${level},`.repeat(9)}]\n`,
  );
  await writeFile(join(dir, 'aliases.yaml'), `l0: &l0 [x]\n${levels.join('')}`);
});
afterAll(() => rm(dir, { recursive: true }));

const ALIASES = 'DIR/aliases.yaml: Excessive alias count indicates a resource exhaustion attack';
const GONE = 'there is no such file or folder';

it.each<[readonly string[], number, string]>([
  [['review', ''], 2, 'a path is empty; give a file, a folder, or - for standard input'],
  [['test', ''], 2, 'a path is empty; give a folder'],
  [['test', 'init', ''], 2, 'a path is empty; give a file, or - for standard input'],
  [
    ['test', 'DIR/nope'],
    3,
    'DIR/nope: there is no such folder; give one that holds scenarios, folders with an expected.yaml',
  ],
  [
    ['test', 'DIR/pod.yaml'],
    3,
    'DIR/pod.yaml: is no folder; give one that holds scenarios, folders with an expected.yaml',
  ],
  [['test', 'init', 'DIR/nope'], 3, `DIR/nope: ${GONE}`],
  [['test', 'init', 'DIR/folder'], 3, 'DIR/folder: is a folder; give a file'],
  [['review', 'DIR/pod.yaml', '--policies', 'DIR/nope'], 3, `DIR/nope: ${GONE}`],
  [['review', 'DIR/pod.yaml', '--policies', ''], 3, `"": ${GONE}`],
  [['review', 'DIR/pod.yaml', '--namespaces', 'DIR/nope'], 3, `DIR/nope: ${GONE}`],
  [['review', 'DIR/pod.yaml', '--nodes', 'DIR/folder'], 3, 'DIR/folder: is a folder; give a file'],
  [['review', 'DIR/pod.yaml', '--templates', 'DIR/nope'], 3, `DIR/nope: ${GONE}`],
  [['review', 'DIR/pod.yaml', '--templates', 'DIR/folder'], 3, 'DIR/folder: is a folder; give a file'],
  [['review', 'DIR/pod.yaml', '--policies', 'DIR/aliases.yaml'], 3, ALIASES],
  [['review', 'DIR/pod.yaml', '--nodes', 'DIR/aliases.yaml'], 3, ALIASES],
  [['review', 'DIR/pod.yaml', '--templates', 'DIR/aliases.yaml'], 3, ALIASES],
  [['test', 'init', 'DIR/aliases.yaml'], 3, ALIASES],
])('gpugate %j', async (args, code, said) => {
  const ended = await gpugate(args.map((arg) => arg.replace('DIR', dir)));
  expect({ code: ended.code, stderr: ended.stderr }).toEqual({
    code,
    stderr: `gpugate: ${said.replaceAll('DIR', dir)}\n`,
  });
});

it.each([['review', 'pod.yaml'], ['explain', 'train'], ['audit'], ['doctor']])(
  'gpugate %s: a namespace that can be none',
  async (...args) => {
    for (const name of ['', 'Team_A', '-a', 'a.b', 'a'.repeat(64)]) {
      const { code, stderr } = await gpugate([...args, '-n', name]);
      expect(code).toBe(2);
      expect(stderr).toContain(
        `argument '${name}' is invalid. The name of a namespace is at most 63 small letters, digits and "-", and begins and ends with a letter or a digit.`,
      );
    }
  },
);

it.each<[string, NodeJS.ProcessEnv, readonly string[], string]>([
  [
    'no kubeconfig, a context',
    {},
    ['--context', 'foo'],
    'no cluster: neither a kubeconfig (KUBECONFIG, ~/.kube/config) nor a service account is there',
  ],
  ['KUBECONFIG that is not there', { KUBECONFIG: 'DIR/nope' }, [], `kubeconfig DIR/nope: ${GONE}`],
  ['a kubeconfig that is not there', {}, ['--kubeconfig', 'DIR/nope'], `kubeconfig DIR/nope: ${GONE}`],
  [
    'a kubeconfig that is no YAML',
    {},
    ['--kubeconfig', 'DIR/bad-kubeconfig'],
    'kubeconfig DIR/bad-kubeconfig:2: bad indentation of a mapping entry',
  ],
  [
    'a context that is none',
    {},
    ['--kubeconfig', 'DIR/kubeconfig', '--context', 'foo'],
    'no context is called foo; there are one, two',
  ],
  [
    'a context of a kubeconfig without any',
    {},
    ['--kubeconfig', 'DIR/no-contexts', '--context', 'foo'],
    'no context is called foo; kubeconfig DIR/no-contexts has none',
  ],
])('gpugate audit: %s', async (_, env, flags, said) => {
  const inDir = (text = '') => text.replace('DIR', dir);
  const { stderr } = await gpugate(['audit', ...flags.map(inDir)], {
    HOME: join(dir, 'folder'),
    KUBECONFIG: inDir(env.KUBECONFIG),
  });
  expect(stderr).toBe(`gpugate: ${inDir(said)}\n`);
});

it('what does not fit on the disk of standard output is told', async () => {
  for (const args of [['rules'], ['review', join(dir, 'pod.yaml')], ['review', join(dir, 'pod.yaml'), '--mutated']]) {
    const { status, stderr } = spawnSync(process.execPath, [MAIN, ...args], {
      stdio: ['ignore', openSync('/dev/full', 'w'), 'pipe'],
      encoding: 'utf8',
    });
    expect({ status, stderr: stderr.split('\n').filter((line) => /standard output/.test(line)) }).toEqual({
      status: 4,
      stderr: ['gpugate: standard output cannot be written: no space is left on the device'],
    });
  }
});

it.each<[readonly string[], string]>([
  [['review'], '(see gpugate review --help)'],
  [['rules', 'explain', '--nope'], '(see gpugate rules explain --help)'],
  [['test', 'init', '--nope'], '(see gpugate test init --help)'],
  [['revieww'], "error: unknown command 'revieww'\n(Did you mean review?)\n(see gpugate --help)"],
  [['help', 'revieww'], "error: unknown command 'revieww'\n(Did you mean review?)\n(see gpugate --help)"],
])('gpugate %j leads to the help of its verb', async (args, said) => {
  const { code, stdout, stderr } = await gpugate(args);
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  expect(stderr).toContain(said);
});

it('a report that cannot be written is told in words', async () => {
  for (const [file, why] of [
    ['nope/report.json', 'there is no such folder'],
    ['pod.yaml/report.json', 'a part of the path is no folder'],
    ['folder', 'it is a folder'],
  ]) {
    const { code, stderr } = await gpugate(['review', join(dir, 'pod.yaml'), '-o', `json=${join(dir, file ?? '')}`]);
    expect({ code, stderr }).toEqual({
      code: 4,
      stderr: `gpugate: ${join(dir, file ?? '')} cannot be written: ${why}\n`,
    });
  }
});

it('a folder for scenarios that cannot be made is told in words', async () => {
  await writeFile(
    join(dir, 'gpu.yaml'),
    'apiVersion: v1\nkind: Pod\nmetadata: { name: a }\nspec: { containers: [] }\n',
  );
  for (const [folder, why] of [
    ['pod.yaml', 'a part of the path is no folder'],
    ['pod.yaml/below', 'a part of the path is no folder'],
  ]) {
    const { code, stderr } = await gpugate(['test', 'init', join(dir, 'gpu.yaml'), '--dir', join(dir, folder ?? '')]);
    expect({ code, stderr }).toEqual({
      code: 4,
      stderr: `gpugate: ${join(dir, folder ?? '')} cannot be written: ${why}\n`,
    });
  }
});

it('webhook configurations without a CA say where it is looked for', async () => {
  const { code, stderr } = await gpugate(['manifests', '--cert-dir', join(dir, 'nope')]);
  expect({ code, stderr }).toEqual({
    code: 3,
    stderr: `gpugate: ${join(dir, 'nope/ca.crt')}: ${GONE}; start "gpugate serve" once to make one, or pass --no-ca\n`,
  });
});

it('a scenario without its input says so in words', async () => {
  const { code, stdout } = await gpugate(['test', join(dir, 'scenario')]);
  expect(code).toBe(3);
  expect(stdout).toContain(`${join(dir, 'scenario/input.yaml')}: ${GONE}\n`);
});
