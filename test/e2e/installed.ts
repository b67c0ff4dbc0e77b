import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';
import { CHART, type Helm, helmFor } from '../cluster/helm.ts';
import {
  type ProcessCluster,
  type ProcessClusterOptions,
  startProcessCluster,
} from '../cluster/process-kubelet/cluster.ts';

/** A cluster with the chart's pods run as processes. */
export interface Installed extends ProcessCluster {
  readonly helm: Helm;
}

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/**
 * What is real in these tests: etcd, API server, scheduler, the Deployment and Job controllers, Helm, the chart, gpugate's bundle, TLS by
 * the Service's name, RBAC by the pods' own tokens, probes, read-only roots and users. What stands in: haproxy for kube-proxy, processes with
 * mount namespaces for container engine and kubelet. What is left out: the image's base, CNI and NetworkPolicy, cgroups
 * (memory limits), DNS, nodes that fail.
 */
export async function startInstallable(options: Partial<ProcessClusterOptions> = {}): Promise<Installed> {
  const cluster = await startProcessCluster({ namespace: 'gpugate', service: 'gpugate', ...options });
  const helm = await helmFor(cluster.plane.dir, cluster.plane.kubeconfig, console.log);
  return { ...cluster, helm };
}

/** `helm upgrade --install` of the chart, waiting until it is ready. */
export async function install({ helm }: Installed, values: object, chart: string = CHART): Promise<string> {
  const args = [
    'upgrade',
    '--install',
    'gpugate',
    chart,
    '--namespace',
    'gpugate',
    '--create-namespace',
    '--values',
    '-',
  ];
  const result = await helm([...args, '--wait', '--timeout', '5m'], { input: JSON.stringify(values) });
  if (result.code === 0) return result.stdout;
  throw new Error(`helm upgrade --install: exit ${result.code}\n${result.stderr}${result.stdout}`);
}

/** The specs of the ready-made policies by name, for the chart's `policies`. */
export function demoPolicies(): Readonly<Record<string, object>> {
  const dir = join(ROOT, 'deploy/policies');
  const read = readdirSync(dir).map((file) => parse(readFileSync(join(dir, file), 'utf8')));
  return Object.fromEntries(read.map(({ metadata, spec }) => [metadata.name, spec]));
}
