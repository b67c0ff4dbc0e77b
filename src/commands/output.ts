import { writeFile } from 'node:fs/promises';
import { InvalidArgumentError, Option } from 'commander';
import { EXIT, failure } from './exit.ts';

/** One output: a format, and the file that it goes to; standard output without one. */
export interface Output<Format extends string> {
  readonly format: Format;
  readonly file?: string;
}

/** `-o FORMAT` and `-o FORMAT=FILE`, which may be repeated. The first format is what a verb prints without it. */
export function outputOption<Format extends string>(formats: readonly Format[], about: string): Option {
  const option = new Option('-o, --output <format[=file]>', `${about}; may be repeated (default "${formats[0]}")`);
  // The choices are for help and completion; the parser takes a file beside each.
  return option.choices(formats).argParser(outputParser(formats));
}

function outputParser<Format extends string>(formats: readonly Format[]) {
  return (text: string, before: readonly Output<Format>[] = []): readonly Output<Format>[] => {
    const [name = '', ...rest] = text.split('=');
    const format = formats.find((known) => known === name);
    if (!format) throw new InvalidArgumentError(`Known are ${formats.join(', ')}; write FORMAT or FORMAT=FILE.`);
    const file = rest.join('=');
    if (rest.length > 0 && file === '') throw new InvalidArgumentError('The name of the file is missing.');
    return [...before, { format, ...(file === '' ? {} : { file }) }];
  };
}

/** @throws a failure that names the file, when it can't be written. */
export async function writeOutput(file: string, text: string): Promise<void> {
  try {
    await writeFile(file, text);
  } catch (error) {
    throw failure(EXIT.failed, `${file} cannot be written (${(error as NodeJS.ErrnoException).code})`);
  }
}
