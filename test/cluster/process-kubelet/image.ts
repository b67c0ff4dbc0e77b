import { cp, mkdir, readFile, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bundle } from '../../../scripts/bundle.ts';

/** What a container engine would know of gpugate's image. */
export interface Image {
  /** A folder with the files that the Dockerfile's last stage copies. */
  readonly files: string;
  readonly env: Readonly<Record<string, string>>;
  readonly user: number;
  readonly entrypoint: readonly string[];
  readonly cmd: readonly string[];
}

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));

/**
 * Builds what `docker build` would, as far as it can be had without a container engine: the bundle is made here, and files,
 * variables, user and entry point are read from the Dockerfile's last stage. The base image is missing; instead there are
 * this machine's libraries and the Node of the development dependencies. Node runs `preload` first, if there is one.
 */
export async function buildImage(dir: string, preload?: string): Promise<Image> {
  const bundled = join(dir, 'bundle');
  await bundle({ dir: bundled });
  const files = join(dir, 'files');
  const lines = lastStage(await readFile(join(ROOT, 'Dockerfile'), 'utf8'));
  for (const [instruction, rest] of lines) {
    if (instruction === 'COPY') await copy(rest, bundled, files);
  }
  if (preload !== undefined) await cp(preload, join(files, 'gpugate/preload.ts'));
  const of = (name: string) => lines.findLast(([instruction]) => instruction === name)?.[1] ?? '';
  return {
    files,
    env: Object.fromEntries(lines.filter(([name]) => name === 'ENV').flatMap(([, rest]) => variables(rest))),
    user: Number.parseInt(of('USER'), 10),
    entrypoint: preloading(JSON.parse(of('ENTRYPOINT')), preload),
    cmd: JSON.parse(of('CMD') || '[]'),
  };
}

function preloading([node = '', ...rest]: string[], preload: string | undefined): string[] {
  return preload === undefined ? [node, ...rest] : [node, '--import', '/gpugate/preload.ts', ...rest];
}

/** Instructions of the last stage with what follows them, continuation lines joined. */
function lastStage(dockerfile: string): [string, string][] {
  const instructions = dockerfile
    .split('\n')
    .filter((line) => !line.trimStart().startsWith('#'))
    .join('\n')
    .replaceAll(/\\\n\s*/g, ' ')
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line): [string, string] => {
      const [name = '', ...rest] = line.split(' ');
      return [name, rest.join(' ').trim()];
    });
  return instructions.slice(instructions.findLastIndex(([name]) => name === 'FROM'));
}

async function copy(rest: string, bundled: string, files: string): Promise<void> {
  const words = rest.split(/\s+/).filter((word) => !word.startsWith('--'));
  const target = join(files, words.at(-1) ?? '');
  for (const source of words.slice(0, -1)) {
    const from = basename(source) === 'dist' ? bundled : join(ROOT, source);
    // A folder's content is copied; a file goes into a target that ends in a slash.
    const into = words.at(-1)?.endsWith('/') && (await stat(from)).isFile();
    const to = into ? join(target, basename(source)) : target;
    await mkdir(dirname(to), { recursive: true });
    await cp(from, to, { recursive: true });
  }
}

function variables(rest: string): [string, string][] {
  return rest.split(/\s+/).map((pair) => [pair.slice(0, pair.indexOf('=')), pair.slice(pair.indexOf('=') + 1)]);
}
