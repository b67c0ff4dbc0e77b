import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { connect } from 'node:tls';
import { fileURLToPath } from 'node:url';
import { type Component, startComponent } from './component.ts';
import type { ControlPlane } from './controlplane.ts';
import { freePorts } from './ports.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** Of the webhook, and of metrics and health. */
export type Ports = readonly [number, number];

/** A `gpugate serve` process that keeps its certificates in a Secret. */
export interface Replica {
  readonly name: string;
  readonly ports: Ports;
  readonly metricsUrl: string;
  /** Whether /readyz says so now. */
  isReady(): Promise<boolean>;
  /** The certificate that a new connection is given, in hexadecimal, and whether a bundle makes it trusted for the Service. */
  handshake(bundle: string): Promise<{ readonly serial: string; readonly trusted: boolean }>;
  /** The lines of its log so far, parsed. */
  log(): readonly Record<string, unknown>[];
  stop(): Promise<void>;
}

/** Starts a replica; it need not be ready yet. */
export async function startReplica(
  plane: Pick<ControlPlane, 'dir' | 'kubeconfig'>,
  name: string,
  args: readonly string[],
  given?: Ports,
): Promise<Replica> {
  const ports = given ?? ((await freePorts(2)) as [number, number]);
  const [port, metricsPort] = ports;
  const logFile = join(plane.dir, `${name}.log`);
  const all = [
    [join(ROOT, 'src/main.ts'), 'serve', '--port', String(port), '--metrics-port', String(metricsPort)],
    ['--kubeconfig', plane.kubeconfig, '--policies', join(ROOT, 'deploy/policies'), '--shutdown-delay', '0'],
    ['--cert-secret', 'gpugate/gpugate-certificates', '--service', 'gpugate/gpugate', ...args],
  ].flat();
  const running: Component = await startComponent(name, process.execPath, all, logFile);
  const metricsUrl = `http://127.0.0.1:${metricsPort}`;
  return {
    name,
    ports,
    metricsUrl,
    isReady: () =>
      fetch(`${metricsUrl}/readyz`).then(
        ({ ok }) => ok,
        () => false,
      ),
    handshake: (bundle) => handshake(port, bundle),
    log: () =>
      readFileSync(logFile, 'utf8')
        .split('\n')
        .filter((line) => line.startsWith('{'))
        .map((line) => JSON.parse(line)),
    stop: () => running.stop(),
  };
}

function handshake(port: number, ca: string): Promise<{ serial: string; trusted: boolean }> {
  return new Promise((resolve, reject) => {
    const options = { host: '127.0.0.1', port, ca, servername: 'gpugate.gpugate.svc', rejectUnauthorized: false };
    const socket = connect(options, () => {
      const serial = socket.getPeerX509Certificate()?.serialNumber ?? '';
      resolve({ serial, trusted: socket.authorized });
      socket.destroy();
    });
    socket.on('error', reject);
  });
}

/** Waits until something is so; fails after two minutes with what it is called. */
export async function until(what: string, isSo: () => Promise<boolean>): Promise<void> {
  const deadline = Date.now() + 120_000;
  while (!(await isSo())) {
    if (Date.now() > deadline) throw new Error(`not so after two minutes: ${what}`);
    await sleep(50);
  }
}
