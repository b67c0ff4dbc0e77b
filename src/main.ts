#!/usr/bin/env node
import { statSync } from 'node:fs';
// Not by name: an older Node lacks it, and would fail before it can be told so.
import * as modules from 'node:module';
import { basename, join } from 'node:path';
import { CommanderError } from 'commander';
import { EXIT, failure, isFailure } from './commands/exit.ts';
import { whyUnwritten } from './files/unread.ts';
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
  // Of a verb that is none commander would print the general help, and not a word on it.
  const [help, asked = ''] = args;
  const isUnknown = help === 'help' && /^\w/.test(asked) && !root.commands.some((verb) => verb.name() === asked);
  await root.parseAsync(isUnknown ? [asked] : args, { from: 'user' });
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
let stopping = false;
/** As a program ends that SIGPIPE ends. */
const BROKEN_PIPE = 141;

// The first process of a container, such as the Jobs of the chart, hears only those signals that it has a handler for.
if (process.pid === 1) {
  process.on('SIGTERM', () => process.exit(143));
  process.on('SIGINT', () => process.exit(130));
}

// `gpugate rules | head`: nobody reads on, and that is no failure; but a review that was cut short is none.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') stop(`standard output cannot be written: ${whyUnwritten(error)}`, EXIT.failed);
  else process.exit(JUDGING.includes(verbOf(process.argv.slice(2)) ?? '') ? BROKEN_PIPE : 0);
});
try {
  await main(process.argv.slice(2));
} catch (error) {
  // commander has printed its message already.
  if (error instanceof CommanderError) process.exit(error.exitCode === 0 ? 0 : EXIT.usage);
  if (isFailure(error)) stop(error.message, error.exitCode);
  else stop((error as Error).stack ?? String(error), EXIT.failed);
}

/** Ends with the lines of a message, unless that is under way. */
function stop(message: string, exitCode: number): void {
  if (stopping) return;
  stopping = true;
  process.stderr.write(`${message.replace(/^(?=\S)/gm, 'gpugate: ')}\n`, () => process.exit(exitCode));
}
