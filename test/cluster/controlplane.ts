import { randomBytes } from 'node:crypto';
import { mkdir, mkdtemp, readFile, rm } from 'node:fs/promises';
import { request } from 'node:https';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { apiServerArgs, etcdArgs, managerArgs, schedulerArgs } from './arguments.ts';
import { type Binaries, binaries } from './binaries.ts';
import { type Component, startComponent, whenReady } from './component.ts';
import { caFileIn, writeCredentials } from './credentials.ts';
import type { Log } from './go-tools.ts';
import { type Kubectl, kubectlFor } from './kubectl.ts';
import { freePorts } from './ports.ts';

/** A running control plane: etcd, kube-apiserver, kube-controller-manager and kube-scheduler on 127.0.0.1. */
export interface ControlPlane {
  /** Certificates, logs (`<component>.log`) and etcd's data; removed by `stop`, unless the caller gave the folder. */
  readonly dir: string;
  /** Path of a kubeconfig whose user is in system:masters. */
  readonly kubeconfig: string;
  /** `https://127.0.0.1:<port>` */
  readonly server: string;
  readonly token: string;
  readonly caFile: string;
  readonly kubectl: Kubectl;
  stopApiServer(): Promise<void>;
  startApiServer(): Promise<void>;
  restartApiServer(): Promise<void>;
  /** Stops etcd in its tracks (SIGSTOP): it keeps its connections and answers nothing. False lets it go on. */
  pauseEtcd(paused: boolean): void;
  /** Ends every component it started; safe to call twice. */
  stop(): Promise<void>;
}

export interface ControlPlaneOptions {
  readonly log?: Log;
  /** Where to keep the files; a new temporary folder otherwise. */
  readonly dir?: string;
  /** Further arguments of kube-apiserver, such as `--enable-admission-plugins=ExtendedResourceToleration`. */
  readonly apiServerArgs?: readonly string[];
}

/** Starts a control plane in a few seconds, once its programs are built. Throws with the last lines of a component's log when it fails. */
export async function startControlPlane(options: ControlPlaneOptions = {}): Promise<ControlPlane> {
  const programs = await binaries(options.log ?? (() => {}));
  const dir = options.dir ? resolve(options.dir) : await mkdtemp(join(tmpdir(), 'gpugate-cluster-'));
  await mkdir(dir, { recursive: true });
  const [etcdPort, peerPort, port] = (await freePorts(3)) as [number, number, number];
  const server = `https://127.0.0.1:${port}`;
  const token = randomBytes(24).toString('base64url');
  const caFile = caFileIn(dir);
  const kubeconfig = await writeCredentials(dir, server, token);

  const running: Component[] = [];
  const start = async (name: string, program: keyof Binaries, args: readonly string[]): Promise<void> => {
    running.push(await startComponent(name, programs[program], args, join(dir, `${name}.log`)));
  };
  const answers = (path: string) => whenReady([...running], () => ready(server + path, caFile, token), 60_000);
  const end = async (name: string): Promise<void> => {
    const index = running.findIndex((component) => component.name === name);
    await running.splice(index, index < 0 ? 0 : 1)[0]?.stop();
  };
  const startApiServer = async () => {
    const args = [...apiServerArgs(dir, etcdPort, port), ...(options.apiServerArgs ?? [])];
    await start('kube-apiserver', 'kubeApiserver', args);
    await answers('/readyz');
  };
  const stop = async () => {
    // Clients first: a kube-apiserver without etcd waits for it until its grace period is over.
    for (const name of ['kube-scheduler', 'kube-controller-manager', 'kube-apiserver', 'etcd']) await end(name);
    if (!options.dir) await rm(dir, { recursive: true, force: true });
  };

  try {
    await start('etcd', 'etcd', etcdArgs(dir, etcdPort, peerPort));
    await startApiServer();
    await start('kube-controller-manager', 'kubeControllerManager', managerArgs(dir, kubeconfig));
    await start('kube-scheduler', 'kubeScheduler', schedulerArgs(kubeconfig));
    // A pod is refused until the namespace's service account exists.
    await answers('/api/v1/namespaces/default/serviceaccounts/default');
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    dir,
    kubeconfig,
    server,
    token,
    caFile,
    kubectl: kubectlFor(programs.kubectl, kubeconfig, join(dir, 'kubectl-cache')),
    stopApiServer: () => end('kube-apiserver'),
    startApiServer,
    restartApiServer: () => end('kube-apiserver').then(startApiServer),
    pauseEtcd: (paused) => {
      const etcd = running.find(({ name }) => name === 'etcd');
      if (etcd) process.kill(etcd.pid, paused ? 'SIGSTOP' : 'SIGCONT');
    },
    stop,
  };
}

/** Whether a GET with the admin's token answers 200; false while nothing listens or no certificate is there yet. */
async function ready(url: string, caFile: string, token: string): Promise<boolean> {
  const ca = await readFile(caFile).catch(() => undefined);
  if (!ca) return false;
  return new Promise((done) => {
    const options = { ca, agent: false, timeout: 2_000, headers: { authorization: `Bearer ${token}` } } as const;
    const get = request(url, options, (response) => done(response.resume().statusCode === 200));
    get.on('timeout', () => get.destroy());
    get.on('error', () => done(false));
    get.end();
  });
}
