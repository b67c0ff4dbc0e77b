import { setTimeout as sleep } from 'node:timers/promises';
import type { V1Pod, V1Service, V1ServicePort } from '@kubernetes/client-node';
import type { Api } from '../api.ts';
import { type Balancer, startBalancer } from './haproxy.ts';
import { receives } from './status.ts';

/** Leads a Service's connections to its ready pods. */
export interface ServiceProxy {
  /** How many pods receive connections now. */
  servers(): number;
  stop(): Promise<void>;
}

export interface ServiceOptions {
  readonly api: Api;
  readonly dir: string;
  readonly namespace: string;
  readonly name: string;
}

const PERIOD_MS = 200;

/**
 * Stands in for kube-proxy, for the first port of one Service: a balancer on its cluster IP, which the control plane takes from a
 * loopback range. The Service may come, go and come again with another address.
 */
export function startServiceProxy({ api, dir, namespace, name }: ServiceOptions): ServiceProxy {
  const stopped = new AbortController();
  let serving: { readonly at: string; readonly balancer: Balancer } | undefined;
  let servers: readonly string[] = [];

  const look = async (): Promise<void> => {
    const { code, body: service } = await api('GET', `/api/v1/namespaces/${namespace}/services/${name}`);
    if (code !== 200 && code !== 404) return;
    const port = (service as V1Service).spec?.ports?.[0];
    const at = code === 200 && port ? `${service.spec.clusterIP}:${port.port}` : undefined;
    if (serving && serving.at !== at) {
      await serving.balancer.stop();
      serving = undefined;
    }
    if (at === undefined || port === undefined) return;
    serving ??= { at, balancer: await startBalancer(dir, `${name}-${at}`, service.spec.clusterIP, port.port) };
    const selector = new URLSearchParams({ labelSelector: selectorOf(service) });
    const pods = await api('GET', `/api/v1/namespaces/${namespace}/pods?${selector}`);
    if (pods.code !== 200) return;
    servers = (pods.body.items as V1Pod[]).filter(receives).map((pod) => `${pod.status?.podIP}:${target(pod, port)}`);
    await serving.balancer.use(servers);
  };

  const loop = async (): Promise<void> => {
    while (!stopped.signal.aborted) {
      await look().catch(() => {}); // The API server is away: what was known goes on.
      await sleep(PERIOD_MS);
    }
  };
  const looping = loop();

  return {
    servers: () => servers.length,
    async stop() {
      stopped.abort();
      await looping;
      await serving?.balancer.stop();
    },
  };
}

function selectorOf({ spec }: V1Service): string {
  return Object.entries(spec?.selector ?? {})
    .map(([key, value]) => `${key}=${value}`)
    .join(',');
}

function target({ spec }: V1Pod, { port, targetPort = port }: V1ServicePort): number {
  if (typeof targetPort === 'number') return targetPort;
  const ports = spec?.containers.flatMap((container) => container.ports ?? []) ?? [];
  return ports.find(({ name }) => name === targetPort)?.containerPort ?? port;
}
