import { watch } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Logger } from 'pino';
import { lookAgainAndAgain } from '../files/looks.ts';
import { readGiven, unread } from '../files/unread.ts';
import { parseManifest } from './manifest.ts';
import type { PolicySet } from './resolve.ts';
import { type GpuPolicy, gpuPolicySchema } from './schema.ts';

/** Policies from wherever they are kept. */
export interface PolicySource {
  /** The last good set; the same object until it changes. */
  current(): PolicySet;
  /** The GpuPolicies of the cluster, if any, are not used. */
  readonly fromFiles?: boolean;
  /** False until they have been read for the first time. */
  synced?(): boolean;
  /** Reads one policy again, in a bounded time; `current` is another set afterwards if it was another one. Never rejects. */
  refresh?(name: string): Promise<void>;
  close(): void | Promise<void>;
}

export interface WatchPoliciesOptions {
  readonly log: Pick<Logger, 'info' | 'error'>;
  /** Called when changed files have been read, and when what they hold can't be used. */
  readonly onReload?: (result: 'success' | 'failure') => void;
  readonly intervalMs?: number;
}

/**
 * Reads the policies of one file, or of a directory: its `.yaml`, `.yml` and `.json` files, not those below it.
 * @throws Error with one line `file:line: field and what` for each mistake.
 */
export async function readPolicies(path: string): Promise<PolicySet> {
  const found = await stat(path).catch((error) => {
    throw unread(path, error);
  });
  return parsePolicies(found.isDirectory() ? await filesOf(path) : new Map([[path, await readGiven(path)]]));
}

/**
 * The policies of a directory, read again when a file changes. A set with a mistake is logged and counted, and the last
 * good one stays. A ConfigMap volume swaps a symlink, which file events miss, so the files are compared every few seconds.
 * @throws Error at start, if the first set has a mistake.
 */
export async function watchPolicies(directory: string, options: WatchPoliciesOptions): Promise<PolicySource> {
  const { log, onReload, intervalMs } = options;
  let files = await filesOf(directory);
  let policies = parsePolicies(files);

  const look = async () => {
    const found = await filesOf(directory);
    if (sameFiles(files, found)) return;
    policies = parsePolicies(found);
    files = found;
    log.info({ directory, policies: [...policies.keys()] }, 'policies reloaded');
    onReload?.('success');
  };
  const onFault = ({ message }: Error) => {
    log.error({ directory, mistakes: message.split('\n') }, 'policies kept as they were');
    onReload?.('failure');
  };
  const { lookNow, stop } = lookAgainAndAgain(look, { onFault, ...(intervalMs === undefined ? {} : { intervalMs }) });
  const watcher = watch(directory, { persistent: false }, lookNow).on('error', () => undefined);
  return {
    fromFiles: true,
    current: () => policies,
    close: () => {
      stop();
      watcher.close();
    },
  };
}

type Files = ReadonlyMap<string, string>;

async function filesOf(directory: string): Promise<Files> {
  const names = (await readdir(directory)).filter((name) => /^[^.].*\.(ya?ml|json)$/.test(name)).sort();
  const read = names.map(async (name) => [join(directory, name), await readGiven(join(directory, name))] as const);
  return new Map(await Promise.all(read));
}

function sameFiles(a: Files, b: Files): boolean {
  return a.size === b.size && [...a].every(([name, text]) => b.get(name) === text);
}

function parsePolicies(files: Files): PolicySet {
  const policies = new Map<string, GpuPolicy>();
  const mistakes: string[] = [];
  for (const [file, text] of files) {
    const manifest = parseManifest(file, text, 'GpuPolicy', gpuPolicySchema);
    mistakes.push(...manifest.mistakes);
    for (const { value, line } of manifest.objects) {
      const { name } = value.metadata;
      if (policies.has(name))
        mistakes.push(`${file}:${line}: metadata.name is "${name}", which is the name of another policy too`);
      policies.set(name, value);
    }
  }
  if (mistakes.length > 0) throw new Error(mistakes.join('\n'));
  return policies;
}
