import { execFileSync, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { gpugate } from './gpugate.ts';

interface Shell {
  readonly name: 'bash' | 'zsh' | 'fish';
  /** Its start-up file, which loads the script, with a gpugate that prints its arguments. */
  readonly file: string;
  readonly startUp: (script: string) => string;
  readonly command: (dir: string) => string;
}

const SHELLS: readonly Shell[] = [
  {
    name: 'bash',
    file: 'bashrc',
    startUp: (script) => `gpugate() { echo "GOT[$*]"; }\nsource ${script}\nPS1='> '\n`,
    command: (dir) => `bash --noprofile --rcfile ${dir}/bashrc -i`,
  },
  {
    name: 'zsh',
    file: '.zshrc',
    startUp: (script) =>
      `autoload -U compinit; compinit -u -D\ngpugate() { print -r -- "GOT[$*]" }\nsource ${script}\nPROMPT='> '\n`,
    command: () => 'zsh -i',
  },
  {
    name: 'fish',
    file: 'start.fish',
    startUp: (script) =>
      `function gpugate; echo "GOT[$argv]"; end\nsource ${script}\nfunction fish_prompt; echo '> '; end\n`,
    command: (dir) => `fish --private -C 'source ${dir}/start.fish'`,
  },
];

// bash is everywhere; the others are tested where they are installed.
const installed = SHELLS.filter(
  ({ name }) => name === 'bash' || ['/bin', '/usr/bin'].some((bin) => existsSync(join(bin, name))),
);

/** What is typed at a prompt, with a tab where the shell is to go on, and the arguments that gpugate then gets. */
const TYPED: readonly (readonly [string, string])[] = [
  ['gpugate rul\tex\tGPU002', 'rules explain GPU002'],
  ['gpugate test -o ju\t', 'test -o junit'],
  ['gpugate review -o sar\t', 'review -o sarif'],
  ['gpugate test --upd\t', 'test --update'],
  ['gpugate test only-th\t', 'test only-this-file.yaml'],
  ['gpugate test --nodes only-th\t', 'test --nodes only-this-file.yaml'],
  ['gpugate completion fi\t', 'completion fish'],
  ['gpugate test in\t--di\tx', 'test init --dir x'],
];

/** Types into the shell at a terminal of its own, a line as soon as the one before has been run. */
function type({ command }: Shell, dir: string): Promise<readonly string[]> {
  const env = { ...process.env, HOME: dir, ZDOTDIR: dir, TERM: 'xterm' };
  const child = spawn('script', ['-qfec', command(dir), '/dev/null'], { cwd: dir, env, stdio: 'pipe' });
  const lines = TYPED.map(([keys]) => keys);
  let seen = '';
  return new Promise((resolve, reject) => {
    const next = () => child.stdin.write(`${lines.shift() ?? 'exit'}\n`);
    let told = -1;
    child.stdout.on('data', (data: Buffer) => {
      seen += data;
      // The first prompt, then an output for each line.
      const ready = seen.includes('> ') ? (seen.match(/GOT\[[^$\]]*\]/g)?.length ?? 0) : -1;
      for (; told < ready; told += 1) next();
    });
    child.on('error', reject);
    child.on('close', () => resolve(seen.match(/GOT\[[^$\]]*\]/g)?.map((got) => got.slice(4, -1)) ?? []));
  });
}

describe.each(installed)('the script for $name', (shell) => {
  let dir: string;
  beforeAll(async () => {
    dir = await mkdtemp(join(tmpdir(), 'gpugate-completion-'));
    const { stdout, code } = await gpugate(['completion', shell.name]);
    expect(code).toBe(0);
    await writeFile(join(dir, 'completion'), stdout);
    await writeFile(join(dir, shell.file), shell.startUp(join(dir, 'completion')));
    await writeFile(join(dir, 'only-this-file.yaml'), '');
  });
  afterAll(() => rm(dir, { recursive: true }));

  it('has no mistake that the shell sees', () => {
    execFileSync(shell.name, ['-n', join(dir, 'completion')]);
  });

  it('completes verbs, flags, their values and files', async () => {
    expect(await type(shell, dir)).toEqual(TYPED.map(([, args]) => args));
  });
});

it('there is none for another shell', async () => {
  expect(await gpugate(['completion', 'csh'])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('bash, zsh, fish'),
  });
});
