import { spawnSync } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Block, blocksOf } from '../unit/pages.ts';

const MAIN = fileURLToPath(new URL('../../src/main.ts', import.meta.url));

/**
 * Runs the commands of a page in order: the lines of its `console` blocks that begin with `$ `. Its `yaml file=NAME` blocks are
 * files in the folder where they run. Returns what each block is to show: each command, and what a terminal shows of it.
 */
export async function runConsole(page: string): Promise<ReadonlyMap<Block, string>> {
  const dir = await mkdtemp(join(tmpdir(), 'gpugate-page-'));
  try {
    const bin = join(dir, 'bin');
    const work = join(dir, 'work');
    await mkdir(bin);
    await mkdir(work);
    const script = `#!/bin/sh\nexec "${process.execPath}" "${MAIN}" "$@"\n`;
    await writeFile(join(bin, 'gpugate'), script, { mode: 0o755 });
    const env = { ...process.env, NO_COLOR: '1', PATH: `${bin}${delimiter}${process.env.PATH}` };
    const shown = new Map<Block, string>();
    for (const block of blocksOf(page)) {
      const [, file] = /^\w+ file=(.+)$/.exec(block.info) ?? [];
      if (file !== undefined) {
        await mkdir(dirname(join(work, file)), { recursive: true });
        await writeFile(join(work, file), `${block.text}\n`);
      }
      if (block.info !== 'console') continue;
      const commands = block.text.split('\n').filter((line) => line.startsWith('$ '));
      const printed = commands.map((line) => {
        const { stdout } = spawnSync('sh', ['-c', `{ ${line.slice(2)}; } 2>&1`], { cwd: work, env, encoding: 'utf8' });
        return `${line}\n${stdout}`;
      });
      shown.set(block, printed.join('').trimEnd());
    }
    return shown;
  } finally {
    await rm(dir, { recursive: true });
  }
}
