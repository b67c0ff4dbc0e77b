import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { whyUnread } from '../files/unread.ts';

/** What a path of the command line leads to. */
export type Found =
  | { readonly kind: 'file'; readonly path: string }
  /** Files that hold no manifests yet, and the command whose output does. */
  | {
      readonly kind: 'unrendered';
      readonly path: string;
      readonly what: string;
      readonly command: string;
      readonly given: boolean;
    }
  | { readonly kind: 'missing'; readonly path: string; readonly why: string };

const MANIFEST = /\.(ya?ml|json)$/;
const SKIPPED = /^(\..+|node_modules)$/;
const KUSTOMIZATION = ['kustomization.yaml', 'kustomization.yml', 'Kustomization'];

/**
 * The manifests of files and folders, in order. Folders are gone through whole, but for hidden ones, node_modules and links
 * to folders; of a Helm chart and a kustomization it is said how to render them, since their files are no manifests.
 * `-`, standard input, stands for itself.
 */
export async function* findManifests(paths: readonly string[]): AsyncIterable<Found> {
  for (const path of paths) {
    if (path === '-') yield { kind: 'file', path };
    else yield* found(path, true);
  }
}

async function* found(path: string, given: boolean): AsyncIterable<Found> {
  let isFolder: boolean;
  try {
    isFolder = (await stat(path)).isDirectory();
  } catch (error) {
    yield { kind: 'missing', path, why: whyUnread(error) };
    return;
  }
  if (!isFolder) {
    yield { kind: 'file', path };
    return;
  }
  const entries = await readdir(path, { withFileTypes: true }).catch((error) => whyUnread(error));
  if (typeof entries === 'string') {
    yield { kind: 'missing', path, why: entries };
    return;
  }
  const names = new Set(entries.map(({ name }) => name));
  const unrendered = { kind: 'unrendered' as const, path, given };
  if (names.has('Chart.yaml')) {
    yield { ...unrendered, what: 'a Helm chart', command: `helm template ${quoted(path)} | gpugate review -` };
    return;
  }
  if (KUSTOMIZATION.some((name) => names.has(name))) {
    yield { ...unrendered, what: 'a kustomization', command: `kubectl kustomize ${quoted(path)} | gpugate review -` };
    return;
  }
  for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
    const child = join(path, entry.name);
    if (entry.isDirectory() ? !SKIPPED.test(entry.name) : MANIFEST.test(entry.name)) {
      // Neither links to folders nor pipes and devices, which nobody may ever end. A link that leads nowhere is told.
      if (!entry.isDirectory() && !(await isFileAt(child))) continue;
      yield* found(child, false);
    }
  }
}

async function isFileAt(path: string): Promise<boolean> {
  return stat(path).then(
    (entry) => entry.isFile(),
    () => true,
  );
}

function quoted(path: string): string {
  return /^[\w./-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`;
}
