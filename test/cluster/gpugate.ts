import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseAllDocuments } from 'yaml';
import { type Component, startComponent, whenReady } from './component.ts';
import type { ControlPlane } from './controlplane.ts';
import { mustKubectl } from './kubectl.ts';
import { freePorts } from './ports.ts';

/** A gpugate process beside a control plane. */
export interface Gpugate {
  readonly url: string;
  readonly metricsUrl: string;
  readonly certDir: string;
  readonly logFile: string;
  /** SIGTERM without a delay for draining; resolves when it has ended. */
  stop(): Promise<void>;
  /** Starts it again on the same ports with the same certificates. */
  start(): Promise<void>;
  /** Reviews answered so far, by the labels of gpugate_requests_total. */
  reviews(): Promise<number>;
}

export interface GpugateOptions {
  /** A directory of policies; without one, those of the cluster. */
  readonly policies?: string;
  readonly certDir?: string;
  /** Port of the webhook; a free one otherwise. */
  readonly port?: number;
  /** Further arguments of `serve`. */
  readonly args?: readonly string[];
}

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const MAIN = join(ROOT, 'src/main.ts');

/** Starts `gpugate serve` against the control plane and waits until it is ready. */
export async function startGpugate(plane: ControlPlane, options: GpugateOptions = {}): Promise<Gpugate> {
  const [free, metricsPort] = (await freePorts(2)) as [number, number];
  const port = options.port ?? free;
  const certDir = options.certDir ?? join(plane.dir, 'gpugate-certs');
  await mkdir(certDir, { recursive: true });
  const logFile = join(plane.dir, 'gpugate.log');
  const metricsUrl = `http://127.0.0.1:${metricsPort}`;
  const args = [
    [MAIN, 'serve'],
    ['--port', String(port), '--metrics-port', String(metricsPort), '--cert-dir', certDir],
    ['--kubeconfig', plane.kubeconfig, '--shutdown-delay', '0'],
    options.policies === undefined ? [] : ['--policies', options.policies],
    options.args ?? [],
  ].flat();
  let running: Component | undefined;
  const start = async () => {
    running = await startComponent('gpugate', process.execPath, args, logFile);
    const ready = () =>
      fetch(`${metricsUrl}/readyz`)
        .then(({ ok }) => ok)
        .catch(() => false);
    await whenReady([running], ready, 30_000);
  };
  await start();
  return {
    url: `https://127.0.0.1:${port}`,
    metricsUrl,
    certDir,
    logFile,
    start,
    stop: async () => {
      await running?.stop();
      running = undefined;
    },
    reviews: async () => total(await (await fetch(`${metricsUrl}/metrics`)).text(), 'gpugate_requests_total'),
  };
}

/** Registers gpugate with the API server by the manifests that it prints, and waits until they are in force. */
export async function register(plane: ControlPlane, gpugate: Pick<Gpugate, 'url' | 'certDir'>): Promise<void> {
  await mustKubectl(plane.kubectl, ['apply', '--server-side', '-f', '-'], await manifests(gpugate));
  const refused = async () => {
    const { stderr } = await plane.kubectl(['create', '--dry-run=server', '-f', '-'], { input: JSON.stringify(HALF) });
    return stderr.includes('gpugate');
  };
  await whenReady([], refused, 30_000);
}

/** What `gpugate manifests --url` prints. */
async function manifests({ url, certDir }: Pick<Gpugate, 'url' | 'certDir'>): Promise<string> {
  const { execFile } = await import('node:child_process');
  const args = [MAIN, 'manifests', '--url', url, '--cert-dir', certDir];
  return new Promise((resolve, reject) => {
    execFile(process.execPath, args, { maxBuffer: 1 << 24 }, (error, stdout, stderr) =>
      error ? reject(new Error(stderr || error.message)) : resolve(stdout),
    );
  });
}

/** The demonstration namespaces, as `deploy/demo` has them. */
export async function addNamespaces(plane: ControlPlane): Promise<readonly string[]> {
  const file = join(ROOT, 'deploy/demo/namespaces.yaml');
  await mustKubectl(plane.kubectl, ['apply', '-f', file]);
  const { readFile } = await import('node:fs/promises');
  return parseAllDocuments(await readFile(file, 'utf8')).map((document) => document.toJS().metadata.name);
}

export const DEMO_POLICIES = join(ROOT, 'deploy/policies');
const CRD = join(ROOT, 'deploy/crd.yaml');

/** Installs the CRD of GpuPolicy. */
export async function addCrd({ kubectl }: Pick<ControlPlane, 'kubectl'>): Promise<void> {
  await mustKubectl(kubectl, ['apply', '--server-side', '-f', CRD]);
  await mustKubectl(kubectl, ['wait', '-f', CRD, '--for=condition=Established', '--timeout=30s']);
}

/** Applies the ready-made policies, and waits until gpugate has taken them in. */
export async function addPolicies({ kubectl }: Pick<ControlPlane, 'kubectl'>): Promise<void> {
  await mustKubectl(kubectl, ['apply', '-f', DEMO_POLICIES]);
  await mustKubectl(kubectl, ['wait', '-f', DEMO_POLICIES, '--for=condition=Ready', '--timeout=30s']);
}

/** The sum of a counter over all of its labels. */
function total(exposition: string, name: string): number {
  return exposition
    .split('\n')
    .filter((line) => line.startsWith(`${name}{`) || line.startsWith(`${name} `))
    .reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' ') + 1)), 0);
}

const HALF = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'half', namespace: 'default' },
  spec: { containers: [{ name: 'half', image: 'x', resources: { limits: { 'nvidia.com/gpu': '500m' } } }] },
};
