import { chown, realpath, rename, rm, stat, writeFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { InvalidArgumentError, Option } from 'commander';
import { whyUnwritten } from '../files/unread.ts';
import { EXIT, failure, isFailure } from './exit.ts';

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
    const first = before.find((other) => file !== '' && resolve(other.file ?? '') === resolve(file));
    if (first)
      throw new InvalidArgumentError(`${file} is to hold ${first.format} already; give each format a file of its own.`);
    return [...before, { format, ...(file === '' ? {} : { file }) }];
  };
}

/** @throws a failure that names the file, when it can't be written. */
export async function writeOutput(file: string, text: string): Promise<void> {
  await written(file, writeFile(file, text));
}

/** Waits for a file or a folder to be written. Rejects with a failure that names it, when it can't be. */
export async function written(path: string, writing: Promise<unknown>): Promise<void> {
  try {
    await writing;
  } catch (error) {
    if (isFailure(error)) throw error;
    throw failure(EXIT.failed, `${path} cannot be written: ${whyUnwritten(error)}`);
  }
}

/**
 * Puts another text into a file that is there, at once or not at all: a disk that is full leaves the old one. Mode and, where
 * that may be, owner stay.
 * @throws a failure that names the file, when it can't be written.
 */
export async function replaceFile(file: string, text: string): Promise<void> {
  let temporary: string | undefined;
  try {
    const target = await realpath(file);
    const { mode, uid, gid } = await stat(target);
    const next = `${target}.${process.pid}.tmp`;
    await writeFile(next, '', { mode: mode & 0o7777, flag: 'wx' });
    temporary = next;
    await writeFile(temporary, text);
    await chown(temporary, uid, gid).catch(() => undefined);
    await rename(temporary, target);
  } catch (error) {
    if (temporary !== undefined) await rm(temporary, { force: true });
    throw failure(EXIT.failed, `${file} cannot be written: ${whyUnwritten(error)}`);
  }
}
