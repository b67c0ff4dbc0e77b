import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { type Api, apiOf } from '../api.ts';
import { type ControlPlane, startControlPlane } from '../controlplane.ts';
import { addNodes } from '../nodes.ts';
import { type Relay, relay } from '../proxies.ts';
import { haproxyBinary } from './haproxy.ts';
import { buildImage, type Image } from './image.ts';
import { type ProcessKubelet, startKubelet } from './kubelet.ts';
import { type ServiceProxy, startServiceProxy } from './service.ts';

/** A real control plane with stand-ins for kubelet, container engine and kube-proxy, which run the pods of one namespace. */
export interface ProcessCluster {
  readonly plane: ControlPlane;
  readonly image: Image;
  readonly api: Api;
  readonly kubelet: ProcessKubelet;
  readonly service: ServiceProxy;
  /** What lies between pods and the API server: the Service `kubernetes` of the namespace default. */
  readonly toApiServer: Relay;
  stop(): Promise<void>;
}

export interface ProcessClusterOptions {
  readonly namespace: string;
  /** The Service before the pods. */
  readonly service: string;
  /** A module that Node runs first in every container, as `/gpugate/preload.ts`. */
  readonly preload?: string;
}

/** Starts it, with the demonstration's nodes. Throws an Error that says what is missing on this machine. */
export async function startProcessCluster(options: ProcessClusterOptions): Promise<ProcessCluster> {
  checkMachine();
  // Two runs on one machine don't meet: loopback is a /8 that no other program shares out.
  const [a, b] = [64 + Math.floor(Math.random() * 64), Math.floor(Math.random() * 128)];
  const apiServerArgs = [`--service-cluster-ip-range=127.${a}.${b}.0/24`];
  const plane = await startControlPlane({ log: console.log, apiServerArgs });
  const stops: (() => Promise<void>)[] = [() => plane.stop()];
  const stop = async () => {
    for (const each of stops.splice(0).reverse()) await each();
  };
  try {
    await addNodes(plane);
    const image = await buildImage(join(plane.dir, 'image'), options.preload);
    const host = `127.${a}.${b}.1`;
    const toApiServer = await relay(host, 443, Number(new URL(plane.server).port));
    stops.push(() => toApiServer.close());
    const api = apiOf(plane);
    const { dir } = plane;
    const service = startServiceProxy({ api, dir, namespace: options.namespace, name: options.service });
    stops.push(() => service.stop());
    const env = { KUBERNETES_SERVICE_HOST: host, KUBERNETES_SERVICE_PORT: '443' };
    const network = `127.${a}.${b + 128}`;
    const kubelet = startKubelet({ api, image, namespace: options.namespace, dir, network, env });
    stops.push(() => kubelet.stop());
    return { plane, image, api, kubelet, service, toApiServer, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

function checkMachine(): void {
  haproxyBinary();
  const missing = ['unshare', 'setpriv'].filter((name) => !existsSync(join('/usr/bin', name)));
  if (process.platform !== 'linux' || process.getuid?.() !== 0 || missing.length > 0)
    throw new Error(
      `running pods as processes in mount namespaces of their own needs Linux, root and util-linux${missing.length > 0 ? ` (there is no ${missing.join(', no ')})` : ''}`,
    );
}
