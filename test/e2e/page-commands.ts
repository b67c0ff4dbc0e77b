import { readFileSync } from 'node:fs';

/**
 * The words of a command that stands on a page of docs/, in a block or between backticks: the one that begins with `program`
 * and has `part` in it, the first of them. Its quotes hold no space. Throws where there is none.
 */
export function commandOn(page: string, program: 'helm' | 'kubectl', part: RegExp): readonly string[] {
  const text = readFileSync(new URL(`../../docs/${page}`, import.meta.url), 'utf8');
  const lines = text.split(/[`\n]/).map((line) => line.trim());
  const command = lines.find((line) => line.startsWith(`${program} `) && part.test(line));
  if (command === undefined) throw new Error(`docs/${page} has no command ${program} ... ${part}`);
  return command
    .split(' ')
    .slice(1)
    .map((word) => word.replace(/^'(.*)'$/, '$1'));
}
