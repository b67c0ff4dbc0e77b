import { readFile } from 'node:fs/promises';

const WORDS: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file or folder',
  ENOTDIR: 'a part of the path is no folder',
  EACCES: 'permission denied',
  EISDIR: 'is a folder; give a file',
};

const UNWRITTEN: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such folder',
  ENOTDIR: 'a part of the path is no folder',
  EEXIST: 'a part of the path is no folder',
  EACCES: 'permission denied',
  EISDIR: 'it is a folder',
  ENOSPC: 'no space is left on the device',
  EDQUOT: 'the quota of the disk is used up',
  EFBIG: 'a file may not be so large',
  EROFS: 'the file system is read-only',
};

/** Why a file can't be written, in words. */
export function whyUnwritten(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException;
  return UNWRITTEN[code ?? ''] ?? code ?? message;
}

/** Why a file can't be read, in words. */
export function whyUnread(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException;
  return WORDS[code ?? ''] ?? message;
}

/** The error for a path that was given and can't be read: it names the path, and why. */
export function unread(path: string, error: unknown): Error {
  return new Error(`${path === '' ? '""' : path}: ${whyUnread(error)}`);
}

/**
 * The text of a file that was given.
 * @throws Error of one line that names the file.
 */
export async function readGiven(file: string): Promise<string> {
  return readFile(file, 'utf8').catch((error) => {
    throw unread(file, error);
  });
}
