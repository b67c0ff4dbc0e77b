import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { serve } from './gpugate.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const read = (file: string) => readFileSync(root + file, 'utf8');
const blocks = [...read('README.md').matchAll(/```\n([\s\S]*?)```/g)].map(([, text = '']) => text);
const scripts: Record<string, string> = JSON.parse(read('package.json')).scripts;

test('the command of the README, against what `npm start` serves, prints what the README shows', async () => {
  const command = blocks.find((block) => block.startsWith('curl')) ?? '';
  const output = blocks[blocks.indexOf(command) + 1];
  const args = (scripts.start ?? '').replace('node src/main.ts serve', '').trim().split(' ');
  const served = await serve(args.map((arg) => (arg.startsWith('deploy/') ? root + arg : arg)));
  try {
    const here = command
      .replace('certs/ca.crt', `${served.dir}/ca.crt`)
      .replace('127.0.0.1:8443', `127.0.0.1:${served.port}`);
    const { stdout } = await promisify(execFile)('sh', ['-c', here], { cwd: root });
    expect(stdout).toBe(output);
  } finally {
    await served.remove();
  }
});

test('the npm scripts that README and CONTRIBUTING name exist', () => {
  const named = [read('README.md'), read('CONTRIBUTING.md')].flatMap((text) =>
    [...text.matchAll(/npm (?:run ([a-z0-9:]+)|(start|test))\b/g)].map(([, run, plain]) => run ?? plain ?? ''),
  );
  expect(named.length).toBeGreaterThan(5);
  for (const name of named) expect(Object.keys(scripts)).toContain(name);
});
