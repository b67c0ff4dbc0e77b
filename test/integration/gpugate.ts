import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';

const MAIN = fileURLToPath(new URL('../../src/main.ts', import.meta.url));

/** How a process ended, and all that it wrote. */
export interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

function start(args: readonly string[], env: NodeJS.ProcessEnv): ChildProcessByStdio<null, Readable, Readable> {
  return spawn(process.execPath, args, { env: { ...process.env, ...env }, stdio: ['ignore', 'pipe', 'pipe'] });
}

function ending(child: ChildProcessByStdio<null, Readable, Readable>): Promise<Ended> {
  let stdout = '';
  let stderr = '';
  child.stdout.on('data', (text: Buffer) => {
    stdout += text;
  });
  child.stderr.on('data', (text: Buffer) => {
    stderr += text;
  });
  return new Promise((resolve) => child.on('close', (code) => resolve({ code, stdout, stderr })));
}

/** Runs node to its end. */
export function node(args: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<Ended> {
  return ending(start(args, env));
}

/** Runs `gpugate` to its end. */
export function gpugate(args: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<Ended> {
  return node([MAIN, ...args], env);
}

/** A served gpugate, in a process of its own, on free ports and with development certificates of its own. */
export async function serve(args: readonly string[] = [], env: NodeJS.ProcessEnv = {}, main = MAIN) {
  const dir = await mkdtemp(join(tmpdir(), 'gpugate-'));
  const ports = ['--port', '0', '--metrics-port', '0', '--cert-dir', dir];
  const child = start([main, 'serve', ...ports, ...args], env);
  const ended = ending(child);
  const listening = new Promise<{ port: number; metricsPort: number }>((resolve, reject) => {
    createInterface({ input: child.stdout }).on('line', (line) => {
      const entry = JSON.parse(line);
      if (entry.msg === 'listening') resolve(entry);
    });
    ended.then(({ code, stderr }) => reject(new Error(`ended with ${code} before it listened: ${stderr}`)));
  });
  const { port, metricsPort } = await listening;
  return {
    port,
    metricsPort,
    dir,
    ca: await readFile(join(dir, 'ca.crt'), 'utf8'),
    ended,
    signal: (name: NodeJS.Signals) => child.kill(name),
    /** Ends it if it still runs, and removes its files. */
    remove: async () => {
      child.kill('SIGKILL');
      await ended;
      await rm(dir, { recursive: true, force: true });
    },
  };
}
