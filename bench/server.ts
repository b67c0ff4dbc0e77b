import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

/** A server under measurement, in a process of its own. */
export interface ServerProcess {
  readonly name: string;
  readonly port: number;
  readonly pid: number;
  /** CPU time used so far, in microseconds; to the clock tick, 10 ms. */
  cpu(): number;
  /** Resident memory in MiB. */
  rss(): number;
  stop(): Promise<void>;
}

export interface ServerOptions {
  readonly name: string;
  readonly port: number;
  /** Arguments of node. */
  readonly args: readonly string[];
  /** File descriptor of its standard output. */
  readonly output: number;
  /** Put before the command: `taskset -c 0`, or nothing. */
  readonly pinned: readonly string[];
}

const TICK_US = 10_000;

/** Starts a server and waits until its port answers. */
export async function startServer({ name, port, args, output, pinned }: ServerOptions): Promise<ServerProcess> {
  const [command = '', ...rest] = [...pinned, process.execPath, ...args];
  const child = spawn(command, rest, { stdio: ['ignore', output, 'inherit'] });
  await once(child, 'spawn');
  // taskset becomes the program that it starts, so this is the server's.
  const pid = child.pid as number;
  await untilListening(child, name, port);
  return {
    name,
    port,
    pid,
    cpu: () => cpuOf(pid),
    rss: () => Number(/^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024,
    stop: async () => {
      if (child.exitCode !== null || child.signalCode !== null) return;
      child.kill('SIGTERM');
      await once(child, 'exit');
    },
  };
}

/** utime and stime, the 14th and 15th field; the second one, the name, may hold spaces (proc_pid_stat(5)). */
function cpuOf(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) * TICK_US;
}

async function untilListening(child: ChildProcess, name: string, port: number): Promise<void> {
  for (const deadline = Date.now() + 30_000; Date.now() < deadline; await sleep(50)) {
    if (child.exitCode !== null) throw new Error(`${name} ended with ${child.exitCode} before it listened`);
    if (await listens(port)) return;
  }
  throw new Error(`${name} does not listen on port ${port} after 30 s`);
}

function listens(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => resolve(true)).on('error', () => resolve(false));
    socket.on('connect', () => socket.destroy());
  });
}
