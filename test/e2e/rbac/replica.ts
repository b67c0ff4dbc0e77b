import { readFile } from 'node:fs/promises';
import { request } from 'node:https';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { startComponent, whenReady } from '../../cluster/component.ts';
import { freePorts } from '../../cluster/ports.ts';

export const MAIN = fileURLToPath(new URL('../../../src/main.ts', import.meta.url));
const REVIEW = new URL('../../reviews/pod-create-whole.json', import.meta.url);

/** `gpugate serve` as the chart's Deployment runs it. */
export interface Replica {
  /** Posts a review of a pod with one GPU as the API server does. */
  review(ca: Buffer): Promise<unknown>;
  metrics(): Promise<string>;
  log(): Promise<string>;
  /** Waits until something is so. */
  until(isSo: () => Promise<boolean>): Promise<void>;
  stop(): Promise<void>;
}

/** Starts a replica with a kubeconfig, and waits until it is ready. */
export async function startReplica(dir: string, kubeconfig: string): Promise<Replica> {
  const [port, metricsPort] = (await freePorts(2)) as [number, number];
  const logFile = join(dir, 'gpugate.log');
  const flags = [
    ['--port', String(port), '--metrics-port', String(metricsPort), '--shutdown-delay', '0'],
    ['--kubeconfig', kubeconfig, '--webhook-configurations', 'gpugate'],
    ['--cert-secret', 'gpugate/gpugate-certificates', '--service', 'gpugate/gpugate'],
  ].flat();
  const component = await startComponent('gpugate', process.execPath, [MAIN, 'serve', ...flags], logFile);
  const get = (path: string) => fetch(`http://127.0.0.1:${metricsPort}${path}`);
  const ready = () =>
    get('/readyz').then(
      ({ ok }) => ok,
      () => false,
    );
  try {
    await whenReady([component], ready, 60_000);
  } catch (error) {
    await component.stop();
    throw error;
  }
  return {
    review: async (ca) => post(port, ca, await readFile(REVIEW)),
    metrics: async () => (await get('/metrics')).text(),
    log: () => readFile(logFile, 'utf8'),
    until: (isSo) => whenReady([component], isSo, 60_000),
    stop: () => component.stop(),
  };
}

function post(port: number, ca: Buffer, body: Buffer): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const options = { host: '127.0.0.1', servername: 'gpugate.gpugate.svc', port, ca, method: 'POST', path: '/mutate' };
    const call = request({ ...options, headers: { 'content-type': 'application/json' } }, (answer) =>
      resolve(json(answer)),
    );
    call.once('error', reject);
    call.end(body);
  });
}
