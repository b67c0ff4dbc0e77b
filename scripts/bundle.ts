import { chmod, rm } from 'node:fs/promises';
import { basename, join, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type OutputChunk, type Plugin, rolldown } from 'rolldown';
import { RULE_PAGES } from '../src/commands/rule-pages.ts';
import { licences } from './licences.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));

/** What to bundle, and where to. */
export interface BundleOptions {
  /** Folder of the bundle; it is emptied first. */
  readonly dir: string;
  /** Entry files by the name of the file that is made; gpugate itself by default. */
  readonly input?: Readonly<Record<string, string>>;
}

/**
 * Bundles gpugate and its dependencies into a folder that needs Node and nothing else: `node dist/gpugate.js serve`.
 * What is imported when first needed stays in files of its own. One file for all took three times as long to compile,
 * and a quarter more memory, than the two or three that a verb reads. Returns the chunks that were written.
 */
export async function bundle({ dir, input = { gpugate: 'src/main.ts' } }: BundleOptions): Promise<OutputChunk[]> {
  await rm(dir, { recursive: true, force: true });
  const build = await rolldown({
    cwd: ROOT,
    input: { ...input },
    platform: 'node',
    treeshake: {
      // It doesn't say so itself, and 1 MB of its models would come along for the four names that we use.
      moduleSideEffects: [{ test: /node_modules[\\/]@kubernetes[\\/]client-node[\\/]/, sideEffects: false }],
    },
    plugins: [rulePages, asciiOnly, aboutPackage, licences],
  });
  try {
    const { output } = await build.write({
      dir,
      format: 'esm',
      chunkFileNames: ({ moduleIds }) => `${chunkName(moduleIds)}-[hash].js`,
      // Not minified: that would save neither time nor memory, only make the stacks of a log unreadable. Comments are
      // most of what could go; those on licences are gathered in a file instead.
      comments: false,
    });
    const chunks = output.filter((file) => file.type === 'chunk');
    // So that a link to it on the PATH is a command, and a plugin of kubectl.
    for (const { fileName } of chunks.filter(({ isEntry }) => isEntry)) await chmod(join(dir, fileName), 0o755);
    return chunks;
  } finally {
    await build.close();
  }
}

/** The pages of the rules as a literal, since a bundle has no docs/ beside it. */
const rulePages: Plugin = {
  name: 'rule-pages',
  load(id) {
    if (id !== join(ROOT, 'src/commands/rule-pages.ts')) return undefined;
    return `export const RULE_PAGES = ${JSON.stringify(RULE_PAGES)};`;
  },
};

/** V8 keeps a source with a single character beyond Latin-1 in two bytes a character, so these are escaped. */
const asciiOnly: Plugin = {
  name: 'ascii-only',
  generateBundle(_options, files) {
    for (const file of Object.values(files)) {
      if (file.type === 'chunk') file.code = file.code.replace(/[^\0-\x7f]/g, escaped);
    }
  },
};

function escaped(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

/** Spares Node from parsing each file twice to find out that it is a module, where no other package.json says so. */
const aboutPackage: Plugin = {
  name: 'about-package',
  generateBundle() {
    this.emitFile({ type: 'asset', fileName: 'package.json', source: '{ "type": "module" }\n' });
  },
};

/** The package or the source file that a chunk ends with, which is the one that needs all others in it. */
function chunkName(moduleIds: readonly string[]): string {
  const last = relative(ROOT, moduleIds.at(-1) ?? 'chunk');
  const [, dependency] = /.*node_modules[\\/]((?:@[^\\/]+[\\/])?[^\\/]+)/.exec(last) ?? [];
  return dependency?.replace('@', '').replaceAll(sep, '-') ?? basename(last).replace(/\.\w+$/, '');
}

if (import.meta.main) {
  const dir = join(ROOT, 'dist');
  for (const { fileName, code } of await bundle({ dir })) {
    console.log(`${String(Math.round(code.length / 1024)).padStart(6)} KiB  dist/${fileName}`);
  }
}
