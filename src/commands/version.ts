import type { Command } from 'commander';
import about from '../../package.json' with { type: 'json' };

/** The version of this gpugate. */
export const VERSION: string = about.version;

/** `gpugate version` */
export function configure(command: Command): void {
  command
    .description('Prints the version of gpugate and of the Node that runs it.')
    .addHelpText('after', '\nExamples:\n  gpugate version')
    .action(() => {
      process.stdout.write(`gpugate ${VERSION} (node ${process.versions.node})\n`);
    });
}
