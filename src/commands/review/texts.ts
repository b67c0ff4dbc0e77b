import { readFile } from 'node:fs/promises';
import { text as textOf } from 'node:stream/consumers';
import { findManifests, whyUnread } from '../../manifests/find.ts';
import type { Notice } from '../../report/result.ts';

/** The files under review. Their texts are read when they are needed, and not kept. */
export interface Texts {
  /** `-` for standard input. */
  readonly files: readonly string[];
  readonly notices: readonly Notice[];
  readonly unreadable: readonly Notice[];
  /** Rejects with the error of the file system. */
  read(file: string): Promise<string>;
}

/** As it is shown. */
export function shownName(file: string): string {
  return file === '-' ? '<stdin>' : file;
}

export async function openTexts(paths: readonly string[]): Promise<Texts> {
  const files = new Set<string>();
  const notices: Notice[] = [];
  const unreadable: Notice[] = [];
  for await (const found of findManifests(paths)) {
    if (found.kind === 'file') files.add(found.path);
    else if (found.kind === 'missing') unreadable.push({ file: found.path, message: found.why });
    else {
      const { path: file, what, command, given } = found;
      const message = `${what}, whose files are no manifests yet; review what it renders: ${command}`;
      // One that was given and not reviewed must not look like one without problems.
      (given ? unreadable : notices).push({ file, message });
    }
  }
  let stdin: Promise<string> | undefined;
  return {
    files: [...files],
    notices,
    unreadable,
    read(file) {
      if (file !== '-') return readFile(file, 'utf8');
      stdin ??= textOf(process.stdin);
      return stdin;
    },
  };
}

/** The text of a file, or why it can't be read. */
export async function readText(
  texts: Texts,
  file: string,
): Promise<{ readonly text: string } | { readonly why: string }> {
  try {
    return { text: await texts.read(file) };
  } catch (error) {
    return { why: whyUnread(error) };
  }
}
