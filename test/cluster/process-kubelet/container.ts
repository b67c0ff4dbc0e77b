import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { V1Container, V1ContainerStatus } from '@kubernetes/client-node';
import { type Component, startComponent } from '../component.ts';
import type { Environment } from './environment.ts';
import { runProbe } from './probes.ts';
import type { Command } from './root.ts';

/** A container of a pod, run as a process again and again as the pod's restart policy has it. */
export interface RunningContainer {
  status(): V1ContainerStatus;
  /** The process, while there is one. */
  pid(): number | undefined;
  /** SIGTERM, SIGKILL after the grace period, and no more restarts. */
  stop(graceMs: number): Promise<void>;
  /** Resolves once it is not started again, to its last exit code. */
  readonly ended: Promise<number>;
}

export interface ContainerOptions {
  readonly container: V1Container;
  readonly command: Command;
  readonly env: Environment;
  readonly address: string;
  readonly dir: string;
  readonly restart: 'Always' | 'OnFailure' | 'Never';
}

// A kubelet starts again at once, then after 10, 20, 40 s (pkg/kubelet/kubelet.go, backOffPeriod).
const BACKOFF_MS = [0, 10_000, 20_000, 40_000];

export function runContainer(options: ContainerOptions): RunningContainer {
  const { container, restart } = options;
  const stopped = new AbortController();
  let process: Component | undefined;
  let graceMs = 30_000;
  const state = { ready: false, started: false, restarts: 0, since: new Date(), exit: undefined as Exit | undefined };

  const once = async (): Promise<number> => {
    const probing = new AbortController();
    process = await start(options);
    Object.assign(state, { since: new Date(), ready: container.readinessProbe === undefined, exit: undefined });
    state.started = container.startupProbe === undefined;
    const running = process;
    probe(options, state, probing.signal, () => void running.stop(graceMs));
    const how = await running.exited;
    probing.abort();
    process = undefined;
    const exit = { code: exitCode(how), from: state.since, at: new Date() };
    Object.assign(state, { ready: false, started: false, exit });
    return exit.code;
  };

  const live = async (): Promise<number> => {
    for (;;) {
      const code = await once();
      const again = restart === 'Always' || (restart === 'OnFailure' && code !== 0);
      if (!again || stopped.signal.aborted) return code;
      const wait = BACKOFF_MS[Math.min(state.restarts, BACKOFF_MS.length - 1)];
      await sleep(wait, undefined, { signal: stopped.signal }).catch(() => {});
      if (stopped.signal.aborted) return code;
      state.restarts++;
    }
  };

  return {
    status: () => statusOf(container, state, process !== undefined),
    pid: () => process?.pid,
    ended: live(),
    async stop(grace) {
      graceMs = grace;
      stopped.abort();
      await process?.stop(grace);
    },
  };
}

interface Exit {
  readonly code: number;
  readonly from: Date;
  readonly at: Date;
}

async function start({ container, command, env, dir }: ContainerOptions): Promise<Component> {
  await mkdir(dir, { recursive: true });
  // `env -i`: nothing of the variables of the tests gets in.
  const variables = Object.entries(env).map(([name, value]) => `${name}=${value}`);
  const args = ['-i', 'PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin', ...variables];
  return startComponent(
    container.name,
    'env',
    [...args, command.command, ...command.args],
    join(dir, `${container.name}.log`),
  );
}

/** The startup probe first, then the two others at once. */
async function probe(
  { container, address }: ContainerOptions,
  state: { ready: boolean; started: boolean },
  signal: AbortSignal,
  kill: () => void,
): Promise<void> {
  const { startupProbe, livenessProbe, readinessProbe } = container;
  const target = { container, address };
  if (startupProbe) {
    const startup = new AbortController();
    await runProbe(startupProbe, target, AbortSignal.any([signal, startup.signal]), (ok) => {
      if (!ok) return kill();
      state.started = true;
      startup.abort();
    });
  }
  const setReady = (ok: boolean) => {
    state.ready = ok;
  };
  await Promise.all([
    livenessProbe && runProbe(livenessProbe, target, signal, (ok) => ok || kill()),
    readinessProbe && runProbe(readinessProbe, target, signal, setReady),
  ]);
}

function exitCode(how: string): number {
  const code = /^exit (\d+)$/.exec(how)?.[1];
  if (code !== undefined) return Number(code);
  return how === 'SIGKILL' ? 137 : 143;
}

function statusOf(
  { name, image = '' }: V1Container,
  {
    ready,
    started,
    restarts,
    since,
    exit,
  }: { ready: boolean; started: boolean; restarts: number; since: Date; exit: Exit | undefined },
  running: boolean,
): V1ContainerStatus {
  const terminated = exit && {
    terminated: {
      exitCode: exit.code,
      startedAt: exit.from,
      finishedAt: exit.at,
      reason: exit.code === 0 ? 'Completed' : 'Error',
    },
  };
  const state = running
    ? { running: { startedAt: since } }
    : (terminated ?? { waiting: { reason: 'ContainerCreating' } });
  return { name, image, imageID: '', ready, started, restartCount: restarts, state };
}
