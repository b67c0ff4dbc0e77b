#!/usr/bin/env node
import { enableCompileCache } from 'node:module';
import { basename, join } from 'node:path';
import { CommanderError } from 'commander';
import { EXIT, failure, isFailure } from './commands/exit.ts';
import { program, verbOf } from './program.ts';

// The bundle runs under any Node, and would end with an error of its own much later.
const OLDEST_NODE = 24;

async function main(args: readonly string[]): Promise<void> {
  const [major = 0] = process.versions.node.split('.').map(Number);
  if (major < OLDEST_NODE) {
    throw failure(EXIT.failed, `this is Node ${process.versions.node}; gpugate needs Node ${OLDEST_NODE} or later`);
  }
  const asPlugin = basename(process.argv[1] ?? '').startsWith('kubectl-');
  const root = await program([verbOf(args) ?? ''], asPlugin ? 'kubectl gpugate' : 'gpugate');
  await root.parseAsync(args, { from: 'user' });
}

// What a verb loads is compiled once, and kept where only this user writes; where nobody may, nothing is kept.
const { XDG_CACHE_HOME, HOME } = process.env;
const caches = XDG_CACHE_HOME || (HOME && join(HOME, '.cache'));
if (caches) enableCompileCache(join(caches, 'gpugate', 'compiled'));

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
