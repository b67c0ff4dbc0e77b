import { readFile, stat } from 'node:fs/promises';
import { isAbsolute, relative, sep } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { whyUnread } from '../../files/unread.ts';
import { findManifests } from '../../manifests/find.ts';
import type { Notice } from '../../report/result.ts';

/** The files under review. Their texts are read when they are needed, and not kept. */
export interface Texts {
  /** `-` for standard input. */
  readonly files: readonly string[];
  readonly notices: readonly Notice[];
  readonly unreadable: readonly Notice[];
  /** Rejects with the error of the file system, and where it is no UTF-8. */
  read(file: string): Promise<Text>;
}

export interface Text {
  /** Without a byte order mark, which is no part of YAML's first line. */
  readonly text: string;
  /** What stood before it in the file. */
  readonly mark: '' | '\uFEFF';
}

/** As it is shown. */
export function shownName(file: string): string {
  // A line break in a name would begin a line of its own, and could be taken for a finding.
  return file === '-' ? '<stdin>' : file.replace(/\p{Cc}/gu, '?');
}

/** As a patch names it, from the current folder; undefined for what lies outside of it. */
export function patchName(file: string): string | undefined {
  if (file === '-') return shownName(file);
  const name = relative('', file).replaceAll(sep, '/');
  return name.startsWith('../') || isAbsolute(name) ? undefined : name;
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
  /** What can be read only once: standard input, and pipes such as those of `<(...)`. */
  const kept = new Map<string, Promise<Text>>();
  return {
    files: [...files],
    notices,
    unreadable,
    async read(file) {
      if (file !== '-' && (await stat(file)).isFile()) return decoded(await readFile(file));
      const text = kept.get(file) ?? (file === '-' ? buffer(process.stdin) : readFile(file)).then(decoded);
      kept.set(file, text);
      return text;
    },
  };
}

function decoded(bytes: Uint8Array): Text {
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw new Error('it is not UTF-8; save it as UTF-8');
  }
  return text.startsWith('\uFEFF') ? { text: text.slice(1), mark: '\uFEFF' } : { text, mark: '' };
}

/** The text of a file, or why it can't be read. */
export async function readText(texts: Texts, file: string): Promise<Text | { readonly why: string }> {
  try {
    return await texts.read(file);
  } catch (error) {
    return { why: whyUnread(error) };
  }
}
