import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { V1Container, V1Pod, V1PodStatus } from '@kubernetes/client-node';
import type { Api } from '../api.ts';
import { type RunningContainer, runContainer } from './container.ts';
import { type Environment, environmentOf, expanded } from './environment.ts';
import type { Image } from './image.ts';
import { rootFor } from './root.ts';
import { podStatus } from './status.ts';
import { volumesOf } from './volumes.ts';

/** A pod run as processes. */
export interface RunningPod {
  readonly uid: string;
  readonly name: string;
  readonly address: string;
  /** Its roots, volumes and logs: `<container>/<container>.log`. */
  readonly dir: string;
  /** What a kubelet would write into its status. */
  status(): V1PodStatus;
  /** The processes that run now. */
  pids(): readonly number[];
  /** As a kubelet ends a pod: the preStop hook, SIGTERM, and SIGKILL when the grace period is over. */
  terminate(): Promise<void>;
}

export interface PodOptions {
  readonly api: Api;
  readonly image: Image;
  readonly dir: string;
  readonly address: string;
  /** Variables that a kubelet gives to every container. */
  readonly env: Environment;
}

type Restart = 'Always' | 'OnFailure' | 'Never';

const RETRY_MS = 500;
const SYNC_MS = 1000;

export function runPod(pod: V1Pod, options: PodOptions): RunningPod {
  const { name = '', uid = '' } = pod.metadata ?? {};
  const { address } = options;
  const dir = join(options.dir, `${name}-${uid.slice(0, 8)}`);
  const startTime = new Date();
  const gone = new AbortController();
  const running: RunningContainer[] = [];
  let problem: string | undefined;
  let done: 'Succeeded' | 'Failed' | undefined;

  /** Tries until it works, as a kubelet does with a Secret that isn't there yet. */
  const persistently = async <T>(step: () => Promise<T>): Promise<T | undefined> => {
    while (!gone.signal.aborted) {
      try {
        const result = await step();
        problem = undefined;
        return result;
      } catch (error) {
        problem = (error as Error).message;
        await sleep(RETRY_MS, undefined, { signal: gone.signal }).catch(() => {});
      }
    }
    return undefined;
  };

  const syncVolumes = volumesOf(pod, join(dir, 'volumes'), options);
  /** A kubelet takes a minute for this; here changes come through at once. */
  const keepVolumes = async (): Promise<void> => {
    while (!gone.signal.aborted) {
      await sleep(SYNC_MS, undefined, { signal: gone.signal }).catch(() => {});
      await syncVolumes().catch(() => {}); // Gone or not there for now: what was written stays.
    }
  };

  const live = async (): Promise<void> => {
    const restart = (pod.spec?.restartPolicy ?? 'Always') as Restart;
    await persistently(syncVolumes);
    for (const init of pod.spec?.initContainers ?? []) {
      const started = await persistently(() =>
        startContainer(pod, init, restart === 'Never' ? 'Never' : 'OnFailure', dir, options),
      );
      if (started === undefined) return;
      if ((await started.ended) === 0) continue;
      done = 'Failed';
      return;
    }
    for (const container of pod.spec?.containers ?? []) {
      const started = await persistently(() => startContainer(pod, container, restart, dir, options));
      if (started) running.push(started);
    }
    keepVolumes();
    const codes = await Promise.all(running.map(({ ended }) => ended));
    if (codes.length > 0) done = codes.every((code) => code === 0) ? 'Succeeded' : 'Failed';
  };
  const ended = live();

  return {
    uid,
    name,
    address,
    dir,
    pids: () => running.flatMap((container) => container.pid() ?? []),
    status: () =>
      podStatus(pod, { containers: running.map((each) => each.status()), address, startTime, done, problem }),
    async terminate() {
      gone.abort();
      const { terminationGracePeriodSeconds = 30, containers = [] } = pod.spec ?? {};
      await Promise.all(
        running.map(async (container, at) => {
          const { sleep: hook } = containers[at]?.lifecycle?.preStop ?? {};
          await sleep((hook?.seconds ?? 0) * 1000);
          await container.stop((terminationGracePeriodSeconds - (hook?.seconds ?? 0)) * 1000);
        }),
      );
      await ended;
    },
  };
}

async function startContainer(
  pod: V1Pod,
  container: V1Container,
  restart: Restart,
  podDir: string,
  { api, image, address, env: base }: PodOptions,
): Promise<RunningContainer> {
  const dir = join(podDir, container.name);
  await mkdir(dir, { recursive: true });
  const given = { ...image.env, ...base, HOSTNAME: pod.metadata?.name ?? '' };
  const env = await environmentOf(pod, address, container, given, api);
  const run = [
    ...(container.command ?? image.entrypoint),
    ...(container.args ?? (container.command ? [] : image.cmd)),
  ].map((word) => onOwnAddress(expanded(word, env), address));
  const user = container.securityContext?.runAsUser ?? pod.spec?.securityContext?.runAsUser ?? image.user;
  const command = await rootFor({ container, user, image, dir, volumes: join(podDir, 'volumes'), run });
  const own = { ...env, GPUGATE_HOST: onOwnAddress(env.GPUGATE_HOST ?? '', address) };
  return runContainer({ container, command, env: own, address, dir, restart });
}

/** All pods share this machine's network, so what would listen on every address listens on the pod's own instead. */
function onOwnAddress(word: string, address: string): string {
  return word.replace(/^(--host=)?0\.0\.0\.0$/, `$1${address}`);
}
