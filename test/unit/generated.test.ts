import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { generated } from '../../scripts/generated.ts';

it.each((await generated()).map((file) => [file.path, file.text] as const))(
  '%s is what the code makes',
  (path, text) => {
    expect(readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8'), 'run `npm run generate`').toBe(text);
  },
);
