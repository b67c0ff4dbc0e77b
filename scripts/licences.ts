import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { OutputBundle, Plugin } from 'rolldown';

interface About {
  readonly name: string;
  readonly version: string;
  readonly license?: string;
}

/** Adds `licences.txt` to a bundle: name, version and licence of every package that is in it, with the full texts. */
export const licences: Plugin = {
  name: 'licences',
  generateBundle(_options, files) {
    const source = packagesIn(files)
      .map(about)
      .join(`\n${'-'.repeat(80)}\n\n`);
    this.emitFile({ type: 'asset', fileName: 'licences.txt', source });
  },
};

/** Folders of the packages of which something is left after tree-shaking, sorted. */
function packagesIn(files: OutputBundle): readonly string[] {
  const folders = new Set<string>();
  for (const file of Object.values(files)) {
    if (file.type !== 'chunk') continue;
    for (const [id, { renderedLength }] of Object.entries(file.modules)) {
      const [folder] = /^.*[\\/]node_modules[\\/](?:@[^\\/]+[\\/])?[^\\/]+/.exec(id) ?? [];
      if (folder !== undefined && renderedLength > 0) folders.add(folder);
    }
  }
  return [...folders].sort();
}

function about(folder: string): string {
  const text = (file: string) => readFileSync(join(folder, file), 'utf8');
  const { name, version, license = 'licence not named' }: About = JSON.parse(text('package.json'));
  const files = readdirSync(folder).filter((file) => /^(licen[cs]e|notice|copying)/i.test(file));
  return [`${name} ${version} (${license})\n`, ...files.map(text)].join('\n');
}
