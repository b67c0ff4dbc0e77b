import { writeFileSync } from 'node:fs';
import { generated } from './generated.ts';

// Writes every file of the repository that is made from code; `npm test` fails when one differs.
for (const { path, text } of await generated()) {
  writeFileSync(new URL(`../${path}`, import.meta.url), text);
  console.log(path);
}
