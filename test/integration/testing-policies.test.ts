import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { expectedSchema } from '../../src/scenarios/expected.ts';
import { GIVEN_FILES } from '../../src/scenarios/open.ts';
import { tableOf, withBlocks } from '../unit/pages.ts';
import { runConsole } from './console.ts';

const PAGE = fileURLToPath(new URL('../../docs/testing-policies.md', import.meta.url));
const page = await readFile(PAGE, 'utf8');

describe('docs/testing-policies.md', () => {
  it('shows what its commands print', async () => {
    const replaced = await runConsole(page);
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
