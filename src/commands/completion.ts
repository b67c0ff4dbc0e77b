import { Argument, type Command } from 'commander';
import { COMPLETION_SCRIPTS } from '../completion/scripts.ts';
import { placesOf } from '../completion/tree.ts';
import { wholeProgram } from '../program.ts';

/** `gpugate completion`: a script that lets a shell complete verbs, flags and their values. */
export function configure(command: Command): void {
  command
    .description('Prints a script that lets a shell complete verbs, flags and their values.')
    .addArgument(new Argument('<shell>', 'the shell').choices(Object.keys(COMPLETION_SCRIPTS)))
    .addHelpText(
      'after',
      `
Examples:
  gpugate completion bash > ~/.local/share/bash-completion/completions/gpugate
  gpugate completion zsh > "\${fpath[1]}/_gpugate"
  gpugate completion fish > ~/.config/fish/completions/gpugate.fish`,
    )
    .action(async (shell: keyof typeof COMPLETION_SCRIPTS) => {
      process.stdout.write(COMPLETION_SCRIPTS[shell](placesOf(await wholeProgram())));
    });
}
