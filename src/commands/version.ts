import type { Command } from 'commander';
import about from '../../package.json' with { type: 'json' };

/** The version of this gpugate. */
export const VERSION: string = about.version;

/** `gpugate version` */
export function configure(command: Command): void {
  command.action(() => {
    process.stdout.write(`gpugate ${VERSION} (node ${process.versions.node})\n`);
  });
}
