import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { compare } from './compare.ts';
import { type Expected, readExpected } from './expected.ts';
import { openScenario, type Shared } from './open.ts';
import { type Outcome, outcomeOf } from './outcome.ts';

/** How one scenario ended. `problems` is empty when it passed. */
export type Result =
  | { readonly folder: string; readonly state: 'unreadable'; readonly problems: readonly string[] }
  | {
      readonly folder: string;
      readonly state: 'passed' | 'failed';
      readonly expected: Expected;
      readonly outcome: Outcome;
      readonly problems: readonly string[];
    };

/** Runs the scenario of a folder. What can't be read is a result too, so that the others are still run. */
export async function runScenario(folder: string, shared: Shared = {}): Promise<Result> {
  try {
    const expected = await readExpected(join(folder, 'expected.yaml'));
    const outcome = await outcomeOf(await openScenario(folder, expected.subResource, shared), expected.webhook);
    const problems = compare(expected, outcome);
    return { folder, state: problems.length === 0 ? 'passed' : 'failed', expected, outcome, problems };
  } catch (error) {
    return { folder, state: 'unreadable', problems: (error as Error).message.split('\n') };
  }
}

const NO_FOLDER: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such folder',
  ENOTDIR: 'is no folder',
  EACCES: 'permission denied',
};
const WANTED = 'give one that holds scenarios, folders with an expected.yaml';

/**
 * Every folder with an `expected.yaml` in these folders or below them, in order and once each. Folders that begin with a dot and
 * node_modules are passed over.
 * @throws the error of the file system for a folder that can't be read.
 */
export async function scenarioFolders(paths: readonly string[]): Promise<readonly string[]> {
  const found = new Set<string>();
  const walk = async (folder: string) => {
    const entries = await readdir(folder, { withFileTypes: true }).catch((error) => {
      throw new Error(`${folder}: ${NO_FOLDER[error.code] ?? error.message}; ${WANTED}`);
    });
    if (entries.some(({ name }) => name === 'expected.yaml')) found.add(folder);
    const below = entries.filter((entry) => entry.isDirectory() && !/^(\..*|node_modules)$/.test(entry.name));
    for (const name of below.map((entry) => entry.name).sort()) await walk(join(folder, name));
  };
  for (const path of paths) await walk(path);
  return [...found];
}
