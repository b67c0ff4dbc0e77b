import type { Command } from 'commander';
import { wholeProgram } from '../src/program.ts';

/** docs/cli.md */
export async function cliPage(): Promise<string> {
  const root = await wholeProgram();
  return `# Command line

Made by \`npm run generate\` from src/program.ts: what \`--help\` prints.

Findings go to standard output, everything else to standard error. Exit codes are the same for every verb and every output format:

| code | meaning |
| --- | --- |
| 0 | clean |
| 1 | something would be refused, or a scenario failed |
| 2 | wrong use: a flag, a variable or an argument |
| 3 | a file can't be read or understood, or there is none |
| 4 | the cluster, the network, or gpugate itself failed |
| 124 | what was waited for did not come in time |

Colours are used on a terminal only. \`NO_COLOR\` switches them off, \`FORCE_COLOR\` on ([no-color.org](https://no-color.org)). Only \`serve\` and the verbs that are given a cluster
use the network.

A file \`kubectl-gpugate\` on the \`PATH\`, such as a link to \`gpugate\`, makes every verb one of kubectl's: \`kubectl gpugate rules\`.
${sections(root).join('')}`;
}

function sections(command: Command): readonly string[] {
  const children = command
    .createHelp()
    .visibleCommands(command)
    .filter((child) => child.name() !== 'help');
  return [`\n## ${pathOf(command)}\n\n\`\`\`text\n${helpOf(command)}\n\`\`\`\n`, ...children.flatMap(sections)];
}

function pathOf(command: Command): string {
  return command.parent ? `${pathOf(command.parent)} ${command.name()}` : command.name();
}

/** As on a terminal of 120 columns. */
function helpOf(command: Command): string {
  let text = '';
  command.configureOutput({
    writeOut: (part) => {
      text += part;
    },
    getOutHelpWidth: () => 120,
    getOutHasColors: () => false,
  });
  command.outputHelp();
  return text.trimEnd();
}
