import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { V1Pod } from '@kubernetes/client-node';
import type { Api } from '../api.ts';
import type { Environment } from './environment.ts';
import type { Image } from './image.ts';
import { type RunningPod, runPod } from './pod.ts';

/** Runs the pods of one namespace on this machine, whichever node they are bound to. */
export interface ProcessKubelet {
  /** The pods that it runs, the terminating ones too. */
  pods(): readonly RunningPod[];
  /** Ends every process that it started. */
  stop(): Promise<void>;
}

export interface KubeletOptions {
  readonly api: Api;
  readonly image: Image;
  readonly namespace: string;
  /** For roots, volumes and logs: `<pod>-<uid>/<container>/<container>.log`. */
  readonly dir: string;
  /** The first three bytes of the pods' addresses, such as `127.80.1`. */
  readonly network: string;
  readonly env: Environment;
}

const PERIOD_MS = 200;

/**
 * Stands in for the kubelets of all nodes: it looks at the namespace several times a second, starts what the scheduler has bound, writes
 * status as it changes, and deletes what has ended. It rides over an API server that doesn't answer.
 */
export function startKubelet(options: KubeletOptions): ProcessKubelet {
  const { api, namespace, network, dir } = options;
  const running = new Map<string, RunningPod>();
  const leaving = new Map<string, Promise<void>>();
  const written = new Map<string, string>();
  const stopped = new AbortController();
  let last = 0;

  const end = (pod: RunningPod): Promise<void> => {
    const ending = leaving.get(pod.uid) ?? pod.terminate().then(() => void running.delete(pod.uid));
    leaving.set(pod.uid, ending);
    return ending;
  };

  const look = async (): Promise<void> => {
    const path = `/api/v1/namespaces/${namespace}/pods`;
    const { code, body } = await api('GET', path);
    if (code !== 200) return;
    const pods: readonly V1Pod[] = body.items;
    for (const pod of pods) {
      const { uid = '', name = '', deletionTimestamp } = pod.metadata ?? {};
      const known = running.get(uid);
      if (deletionTimestamp !== undefined) {
        if (known) void end(known);
        else await api('DELETE', `${path}/${name}`, { gracePeriodSeconds: 0, preconditions: { uid } });
      } else if (!known && pod.spec?.nodeName && !leaving.has(uid) && !finished(pod)) {
        last = (last % 250) + 2;
        running.set(uid, runPod(pod, { ...options, dir: join(dir, 'pods'), address: `${network}.${last}` }));
      }
      if (known) await write(path, known);
    }
    const there = new Set(pods.map(({ metadata }) => metadata?.uid));
    for (const pod of running.values()) if (!there.has(pod.uid)) void end(pod);
  };

  const write = async (path: string, pod: RunningPod): Promise<void> => {
    const status = JSON.stringify({ status: pod.status() });
    if (written.get(pod.uid) === status) return;
    const type = 'application/strategic-merge-patch+json';
    const { code } = await api('PATCH', `${path}/${pod.name}/status`, status, type);
    if (code === 200) written.set(pod.uid, status);
  };

  const loop = async (): Promise<void> => {
    while (!stopped.signal.aborted) {
      await look().catch(() => {}); // The API server is away: tried again.
      await sleep(PERIOD_MS);
    }
  };
  const looping = loop();

  return {
    pods: () => [...running.values()],
    async stop() {
      stopped.abort();
      await looping;
      await Promise.all([...running.values()].map(end));
    },
  };
}

function finished({ status }: V1Pod): boolean {
  return status?.phase === 'Succeeded' || status?.phase === 'Failed';
}
