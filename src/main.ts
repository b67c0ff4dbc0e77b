#!/usr/bin/env node
import { statSync } from 'node:fs';
// Not by name: an older Node lacks it, and would fail before it can be told so.
import * as modules from 'node:module';
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
  keepCompiled(process.env);
  const asPlugin = basename(process.argv[1] ?? '').startsWith('kubectl-');
  const root = await program([verbOf(args) ?? ''], asPlugin ? 'kubectl gpugate' : 'gpugate');
  await root.parseAsync(args, { from: 'user' });
}

/** What a verb loads is compiled once, and kept where only this user writes: compiled code is run as it is found. */
function keepCompiled({ XDG_CACHE_HOME, HOME }: NodeJS.ProcessEnv): void {
  const caches = XDG_CACHE_HOME || (HOME && join(HOME, '.cache'));
  const found = caches ? statSync(caches, { throwIfNoEntry: false }) : undefined;
  if (!caches || found?.uid !== process.geteuid?.() || (found?.mode ?? 0) & OTHERS_MAY_WRITE) return;
  modules.enableCompileCache(join(caches, 'gpugate', 'compiled'));
}

const OTHERS_MAY_WRITE = 0o022;

/** What they end with speaks for the whole of what they look at. */
const JUDGING = ['review', 'test', 'audit', 'doctor'];
/** As a program ends that SIGPIPE ends. */
const BROKEN_PIPE = 141;

// The first process of a container, such as the Jobs of the chart, hears only those signals that it has a handler for.
if (process.pid === 1) {
  process.on('SIGTERM', () => process.exit(143));
  process.on('SIGINT', () => process.exit(130));
}

// `gpugate rules | head`: nobody reads on, and that is no failure; but a review that was cut short is none.
process.stdout.on('error', ({ code }: NodeJS.ErrnoException) => {
  if (code !== 'EPIPE') process.exit(EXIT.failed);
  process.exit(JUDGING.includes(verbOf(process.argv.slice(2)) ?? '') ? BROKEN_PIPE : 0);
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
