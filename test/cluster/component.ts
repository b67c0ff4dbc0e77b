import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

/** One running program of the control plane. */
export interface Component {
  readonly name: string;
  readonly pid: number;
  /** Resolves when the program has ended, to how: `exit 1`, `SIGKILL`. */
  readonly exited: Promise<string>;
  /** The end of its log. */
  lastLines(count?: number): string;
  /** SIGTERM, then SIGKILL once the grace period is over. Resolves when the program has ended. */
  stop(graceMs?: number): Promise<void>;
}

// Ends the program when our end of the pipe closes without a word, which only happens when we die without stopping it.
const GUARD = `
read -r word && exit 0
kill -TERM "$1" 2>/dev/null
i=0
while [ $i -lt 50 ] && kill -0 "$1" 2>/dev/null; do sleep 0.1; i=$((i + 1)); done
kill -KILL "$1" 2>/dev/null`;

/** Starts a program with its output in `logFile`. It gets a process group of its own, so that Ctrl-C reaches only us and we stop all in order. */
export async function startComponent(
  name: string,
  command: string,
  args: readonly string[],
  logFile: string,
): Promise<Component> {
  const output = openSync(logFile, 'a');
  const child = spawn(command, args, { stdio: ['ignore', output, output], detached: true });
  closeSync(output);
  await once(child, 'spawn');
  const pid = child.pid as number;
  const guard = spawn('sh', ['-c', GUARD, 'guard', String(pid)], {
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true,
  });
  const exited = ended(child).then((how) => {
    guard.stdin.end('ended\n');
    return how;
  });
  return {
    name,
    pid,
    exited,
    lastLines: (count = 15) => readFileSync(logFile, 'utf8').trimEnd().split('\n').slice(-count).join('\n'),
    async stop(graceMs = 10_000) {
      child.kill('SIGTERM');
      const late = new AbortController();
      const kill = sleep(graceMs, undefined, { signal: late.signal }).then(
        () => child.kill('SIGKILL'),
        () => {},
      );
      await exited;
      late.abort();
      await kill;
    },
  };
}

async function ended(child: ChildProcess): Promise<string> {
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
  return child.signalCode ?? `exit ${child.exitCode}`;
}

/** Waits for `ready` to say true; throws with the last lines of whichever component ends first, or of all after `timeoutMs`. */
export async function whenReady(
  components: readonly Component[],
  ready: () => Promise<boolean>,
  timeoutMs: number,
): Promise<void> {
  const endings: string[] = [];
  for (const component of components) {
    component.exited.then((how) => endings.push(`${component.name} ended early (${how}):\n${component.lastLines()}`));
  }
  const deadline = Date.now() + timeoutMs;
  while (!(await ready())) {
    if (endings.length > 0) throw new Error(endings.join('\n'));
    if (Date.now() > deadline) {
      const lines = components.map((component) => `${component.name}:\n${component.lastLines()}`);
      throw new Error(`not ready after ${timeoutMs / 1000} s\n${lines.join('\n')}`);
    }
    await sleep(50);
  }
}
