import { execFileSync } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { expectedSchema } from '../../src/scenarios/expected.ts';
import { GIVEN_FILES } from '../../src/scenarios/open.ts';
import { blocksOf, tableOf, withBlocks } from '../unit/pages.ts';

const PAGE = fileURLToPath(new URL('../../docs/testing-policies.md', import.meta.url));
const MAIN = fileURLToPath(new URL('../../src/main.ts', import.meta.url));
const page = await readFile(PAGE, 'utf8');

describe('docs/testing-policies.md', () => {
  let dir: string;
  beforeAll(async () => {
    dir = await mkdtemp(join(tmpdir(), 'gpugate-page-'));
    await mkdir(join(dir, 'bin'));
    await writeFile(join(dir, 'bin/gpugate'), `#!/bin/sh\nexec "${process.execPath}" "${MAIN}" "$@"\n`, {
      mode: 0o755,
    });
  });
  afterAll(() => rm(dir, { recursive: true }));

  it('shows what its commands print', async () => {
    const work = join(dir, 'work');
    const env = {
      ...process.env,
      NO_COLOR: '1',
      FORCE_COLOR: undefined,
      PATH: `${join(dir, 'bin')}${delimiter}${process.env.PATH}`,
    };
    const replaced = new Map();
    for (const block of blocksOf(page)) {
      const [, file] = /^yaml file=(.+)$/.exec(block.info) ?? [];
      if (file !== undefined) {
        await mkdir(dirname(join(work, file)), { recursive: true });
        await writeFile(join(work, file), `${block.text}\n`);
      }
      if (block.info !== 'console') continue;
      const commands = block.text.split('\n').filter((line) => line.startsWith('$ '));
      const printed = commands.map((line) => {
        const output = execFileSync('sh', ['-c', line.slice(2)], { cwd: work, env, encoding: 'utf8' });
        return `${line}\n${output}`;
      });
      replaced.set(block, printed.join('').trimEnd());
    }
    expect(replaced.size).toBeGreaterThan(2);
    // The page itself is the snapshot: `vitest -u` writes new outputs into it.
    await expect(withBlocks(page, replaced)).toMatchFileSnapshot(PAGE);
  });

  it('names every file of a scenario', () => {
    const files = tableOf(page, 'file').map(([file = '']) => file.replaceAll('`', ''));
    expect(files.sort()).toEqual([...GIVEN_FILES, 'input.yaml', 'expected.yaml'].sort());
  });

  it('names every field of expected.yaml, with its default', () => {
    const rows = tableOf(page, 'field of `expected.yaml`').map((row) => row.map((cell) => cell.replaceAll('`', '')));
    expect(rows.map(([field]) => field).sort()).toEqual(Object.keys(expectedSchema.shape).sort());
    const defaults: Readonly<Record<string, unknown>> = expectedSchema.parse({ description: '', allowed: true });
    for (const [field = '', standard] of rows) {
      const value = defaults[field];
      if (field === 'description' || field === 'allowed') expect(standard).toBe('required');
      else if (value === undefined) expect(standard).toMatch(/^(none|not looked at)$/);
      else expect(standard).toBe(Array.isArray(value) ? 'none' : String(value));
    }
  });
});
