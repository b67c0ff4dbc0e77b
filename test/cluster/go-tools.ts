import { execFile, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rename, rm } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

/** Programs that a Go module of ours names as its tools. */
export interface GoTools {
  /** What they are to people, e.g. `Helm`. */
  readonly what: string;
  /** The folder of its go.mod. */
  readonly module: string;
  /** The folder below `gpugate` in the user's cache. */
  readonly cache: string;
  /** Names of the programs, as they are called in the end. */
  readonly names: readonly string[];
  /** Programs that Go names otherwise: our name by Go's. */
  readonly renamed?: Readonly<Record<string, string>>;
  /** Variables to set at link time, as `package.name=value`. */
  stamps(goMod: string): readonly string[];
  /** Build tags, parted by commas. */
  readonly tags?: string;
  /** How long the build takes, in words. */
  readonly takes: string;
  /** What to do where Go is missing instead of installing it. */
  readonly otherwise?: string;
}

/** Takes one line of progress, without a line end. */
export type Log = (line: string) => void;

/** The folder with the programs, built once and kept in the user's cache. Throws an Error that says what is missing. */
export async function goTools(tools: GoTools, log: Log): Promise<string> {
  const goMod = await readFile(join(tools.module, 'go.mod'), 'utf8');
  const goVersion = await installedGo(tools, /^go (\S+)$/m.exec(goMod)?.[1] ?? 'of go.mod');
  const sums = await readFile(join(tools.module, 'go.sum'), 'utf8');
  const hash = createHash('sha256').update([goMod, sums, goVersion].join('\0')).digest('hex').slice(0, 16);
  const cache = process.env.XDG_CACHE_HOME || join(homedir(), '.cache');
  const folder = join(cache, 'gpugate', tools.cache, hash);
  if (missing(folder, tools.names).length > 0) await build(folder, tools, goMod, goVersion, log);
  return folder;
}

/** The version that a go.mod requires of a module, e.g. `v1.37.2`. */
export function versionIn(goMod: string, module: string): string {
  for (const line of goMod.split('\n')) {
    const [name, version] = line
      .replace(/^require /, '')
      .trim()
      .split(' ');
    if (name === module && version !== undefined) return version;
  }
  throw new Error(`go.mod requires no ${module}`);
}

/** Which of the programs a folder lacks. */
export function missing(folder: string, programs: readonly string[]): string[] {
  return programs.filter((name) => !existsSync(join(folder, name)));
}

/** Version and platform of the Go toolchain the module would be built with, e.g. `go1.26.8 linux amd64`. */
async function installedGo({ what, module, otherwise }: GoTools, needed: string): Promise<string> {
  try {
    const { stdout } = await promisify(execFile)('go', ['env', 'GOVERSION', 'GOOS', 'GOARCH'], { cwd: module });
    return stdout.trim().split('\n').join(' ');
  } catch (error) {
    const { code, stderr } = error as NodeJS.ErrnoException & { stderr?: string };
    const why = code === 'ENOENT' ? 'there is no `go` on PATH' : `\`go env\` failed: ${stderr?.trim() || code}`;
    throw new Error(
      `cannot build ${what}: ${why}. Install Go ${needed} or later${otherwise ? `, or ${otherwise}` : ''}`,
    );
  }
}

async function build(folder: string, tools: GoTools, goMod: string, goVersion: string, log: Log): Promise<void> {
  log(`building ${tools.what} with ${goVersion} into ${folder}: ${tools.takes}`);
  await mkdir(join(folder, '..'), { recursive: true });
  const work = await mkdtemp(`${folder}.`);
  const started = Date.now();
  const minutes = setInterval(() => log(`still building, ${Math.round((Date.now() - started) / 60_000)} min`), 60_000);
  try {
    await goBuild(work, tools, goMod);
    for (const [from, to] of Object.entries(tools.renamed ?? {})) await rename(join(work, from), join(work, to));
    await rename(work, folder).catch((error: NodeJS.ErrnoException) => {
      // Another process finished the same build first.
      if (missing(folder, tools.names).length > 0)
        throw new Error(`${folder} is incomplete, delete it: ${error.message}`);
    });
    log(`built in ${Math.round((Date.now() - started) / 1000)} s`);
  } finally {
    clearInterval(minutes);
    await rm(work, { recursive: true, force: true });
  }
}

async function goBuild(into: string, { module, stamps, tags = '' }: GoTools, goMod: string): Promise<void> {
  const ldflags = ['-s -w', ...stamps(goMod).map((stamp) => `-X ${stamp}`)].join(' ');
  const args = ['build', '-trimpath', '-buildvcs=false', '-ldflags', ldflags, '-tags', tags, '-o', `${into}/`, 'tool'];
  const child = spawn('go', args, { cwd: module, stdio: ['ignore', 'ignore', 'pipe'] });
  let stderr = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr = (stderr + text).slice(-4000);
  });
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', resolve);
  });
  if (code !== 0) throw new Error(`\`go build tool\` in ${module} failed (exit ${code}):\n${stderr.trim()}`);
}
