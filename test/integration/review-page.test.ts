import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { EXIT } from '../../src/commands/exit.ts';
import { FORMATS } from '../../src/commands/review/outputs.ts';
import { tableOf, withBlocks } from '../unit/pages.ts';
import { runConsole } from './console.ts';

const PAGE = fileURLToPath(new URL('../../docs/review.md', import.meta.url));
const page = await readFile(PAGE, 'utf8');
const firstCells = (header: string) => tableOf(page, header).map(([cell = '']) => cell.replaceAll('`', ''));

describe('docs/review.md', () => {
  it('shows what its commands print', { timeout: 120_000 }, async () => {
    const shown = await runConsole(page);
    expect(shown.size).toBeGreaterThan(3);
    // The page itself is the snapshot: `vitest -u` writes new outputs into it.
    await expect(withBlocks(page, shown)).toMatchFileSnapshot(PAGE);
  });

  it('names every format', () => {
    expect(firstCells('format')).toEqual([...FORMATS]);
  });

  it('names every exit code', () => {
    expect(firstCells('exit code')).toEqual(['0', ...Object.values(EXIT).map(String)]);
  });
});
