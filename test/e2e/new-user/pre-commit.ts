import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

const VERSION = '4.7.0';
const run = promisify(execFile);

/** The real pre-commit, installed once from PyPI into the user's cache. Needs Python. */
export async function preCommit(): Promise<string> {
  const folder = join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'gpugate', `pre-commit-${VERSION}`);
  const binary = join(folder, 'bin/pre-commit');
  if (existsSync(binary)) return binary;
  await rm(folder, { recursive: true, force: true });
  await run('python3', ['-m', 'venv', folder]);
  try {
    await run(join(folder, 'bin/pip'), ['install', '--quiet', `pre-commit==${VERSION}`]);
  } catch (error) {
    await rm(folder, { recursive: true, force: true });
    throw error;
  }
  return binary;
}
