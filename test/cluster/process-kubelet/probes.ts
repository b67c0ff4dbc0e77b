import { request as http } from 'node:http';
import { request as https } from 'node:https';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { V1Container, V1Probe } from '@kubernetes/client-node';

/** Where a probe goes. */
export interface Target {
  readonly container: V1Container;
  readonly address: string;
}

/**
 * Runs a probe by its own rhythm until `signal` is aborted: `onChange` hears of success and failure once the thresholds
 * are reached, and of nothing in between.
 */
export async function runProbe(
  probe: V1Probe,
  target: Target,
  signal: AbortSignal,
  onChange: (ok: boolean) => void,
): Promise<void> {
  const { initialDelaySeconds = 0, periodSeconds = 10, timeoutSeconds = 1 } = probe;
  const { failureThreshold = 3, successThreshold = 1 } = probe;
  await wait(initialDelaySeconds, signal);
  let run = { ok: true, length: 0 };
  while (!signal.aborted) {
    const ok = await attempt(probe, target, timeoutSeconds * 1000);
    if (signal.aborted) return;
    run = { ok, length: run.ok === ok ? run.length + 1 : 1 };
    if (run.length === (ok ? successThreshold : failureThreshold)) onChange(ok);
    await wait(periodSeconds, signal);
  }
}

async function wait(seconds: number, signal: AbortSignal): Promise<void> {
  await sleep(seconds * 1000, undefined, { signal }).catch(() => {});
}

function attempt(probe: V1Probe, { container, address }: Target, timeoutMs: number): Promise<boolean> {
  const { httpGet, tcpSocket } = probe;
  if (httpGet) {
    const call = httpGet.scheme === 'HTTPS' ? https : http;
    return new Promise((resolve) => {
      // A kubelet doesn't check the certificate either, and opens a connection for each probe.
      const options = { host: address, port: portOf(container, httpGet.port), path: httpGet.path ?? '/', agent: false };
      const get = call({ ...options, timeout: timeoutMs, rejectUnauthorized: false }, (response) => {
        const { statusCode = 0 } = response.resume();
        resolve(statusCode >= 200 && statusCode < 400);
      });
      get.on('timeout', () => get.destroy());
      get.on('error', () => resolve(false));
      get.end();
    });
  }
  if (!tcpSocket) throw new Error(`the process kubelet knows no probe like ${JSON.stringify(probe)}`);
  return new Promise((resolve) => {
    const socket = connect({ host: address, port: portOf(container, tcpSocket.port), timeout: timeoutMs });
    const settle = (ok: boolean) => {
      socket.destroy();
      resolve(ok);
    };
    socket.on('connect', () => settle(true)).on('timeout', () => settle(false));
    socket.on('error', () => settle(false));
  });
}

function portOf(container: V1Container, port: string | number): number {
  if (typeof port === 'number') return port;
  const named = container.ports?.find(({ name }) => name === port)?.containerPort;
  if (named === undefined) throw new Error(`${container.name} has no port ${port}`);
  return named;
}
