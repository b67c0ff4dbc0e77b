#!/usr/bin/env node
import { Command, CommanderError } from 'commander';
import { EXIT, isFailure } from './commands/exit.ts';

interface Verb {
  readonly about: string;
  /** Adds arguments, flags and the action. */
  readonly load: () => Promise<{ configure(command: Command): void }>;
}

// Only the verb that is asked for is loaded: `serve` must start fast, and no other verb should load a server.
const VERBS: Readonly<Record<string, Verb>> = {
  serve: { about: 'answer admission reviews over HTTPS', load: () => import('./commands/serve.ts') },
  manifests: { about: 'print the webhook configurations', load: () => import('./commands/manifests.ts') },
  version: { about: 'print the version', load: () => import('./commands/version.ts') },
};

async function main(args: readonly string[]): Promise<void> {
  const program = new Command('gpugate')
    .description('Kubernetes admission control for GPU pods')
    .exitOverride()
    .showHelpAfterError('(see gpugate --help)');
  for (const [name, { about, load }] of Object.entries(VERBS)) {
    const command = program.command(name).description(about);
    if (args.includes(name)) (await load()).configure(command);
  }
  await program.parseAsync(args, { from: 'user' });
}

try {
  await main(process.argv.slice(2));
} catch (error) {
  // commander has printed its message already.
  if (error instanceof CommanderError) process.exit(error.exitCode === 0 ? 0 : EXIT.usage);
  const lines = isFailure(error) ? error.message : ((error as Error).stack ?? String(error));
  process.stderr.write(`${lines.replace(/^(?=\S)/gm, 'gpugate: ')}\n`, () => {
    process.exit(isFailure(error) ? error.exitCode : EXIT.failed);
  });
}
