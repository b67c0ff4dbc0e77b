#!/usr/bin/env node
import { basename } from 'node:path';
import { CommanderError } from 'commander';
import { EXIT, isFailure } from './commands/exit.ts';
import { program, verbOf } from './program.ts';

async function main(args: readonly string[]): Promise<void> {
  const asPlugin = basename(process.argv[1] ?? '').startsWith('kubectl-');
  const root = await program([verbOf(args) ?? ''], asPlugin ? 'kubectl gpugate' : 'gpugate');
  await root.parseAsync(args, { from: 'user' });
}

// `gpugate rules | head`: nobody reads on, and that is no failure.
process.stdout.on('error', ({ code }: NodeJS.ErrnoException) => {
  process.exit(code === 'EPIPE' ? 0 : EXIT.failed);
});
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
