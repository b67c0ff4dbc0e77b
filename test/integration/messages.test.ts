import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { gpugate } from './gpugate.ts';

// What is said of a path or a name that is wrong: which one, what is wrong with it, and what is right.

let dir: string;
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'gpugate-messages-'));
  await mkdir(join(dir, 'folder'));
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
