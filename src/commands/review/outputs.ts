import { writeFile } from 'node:fs/promises';
import { InvalidArgumentError } from 'commander';
import { asGithub } from '../../report/github.ts';
import { asJson, asYaml } from '../../report/json.ts';
import { asJunit } from '../../report/junit-objects.ts';
import type { Report } from '../../report/result.ts';
import { asSarif } from '../../report/sarif.ts';
import { asText } from '../../report/text.ts';
import { EXIT, failure } from '../exit.ts';

/** Text and patch are written by whoever goes through the files; the others are made of the whole report. */
export const FORMATS = ['text', 'json', 'yaml', 'sarif', 'junit', 'github', 'patch'] as const;
export type Format = (typeof FORMATS)[number];

/** One output: a format, and the file that it goes to; standard output without one. */
export interface Output {
  readonly format: Format;
  readonly file?: string;
}

/** For commander: `-o sarif=report.sarif -o text`. */
export function outputArgument(text: string, before: readonly Output[] = []): readonly Output[] {
  const [name = '', ...rest] = text.split('=');
  const format = FORMATS.find((known) => known === name);
  if (!format) throw new InvalidArgumentError(`Known are ${FORMATS.join(', ')}; write FORMAT or FORMAT=FILE.`);
  const file = rest.join('=');
  if (rest.length > 0 && file === '') throw new InvalidArgumentError('The name of the file is missing.');
  return [...before, { format, ...(file === '' ? {} : { file }) }];
}

/** What a format makes of a report. `patches` are the diffs of the files. */
export async function rendered(format: Format, report: Report, patches: string, colour: boolean): Promise<string> {
  switch (format) {
    case 'text':
      return asText(report, colour);
    case 'json':
      return asJson(report);
    case 'yaml':
      return asYaml(report);
    case 'sarif': {
      const { RULE_PAGES } = await import('../rule-pages.ts');
      return asSarif(report, RULE_PAGES);
    }
    case 'junit':
      return asJunit(report);
    case 'github':
      return asGithub(report);
    case 'patch':
      return patches;
  }
}

export async function writeOutput(file: string, text: string): Promise<void> {
  try {
    await writeFile(file, text);
  } catch (error) {
    throw failure(EXIT.failed, `${file} cannot be written (${(error as NodeJS.ErrnoException).code})`);
  }
}
