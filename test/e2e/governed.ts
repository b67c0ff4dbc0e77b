import { type Api, apiOf } from '../cluster/api.ts';
import { type ControlPlane, startControlPlane } from '../cluster/controlplane.ts';
import { addCrd, addNamespaces, addPolicies, type Gpugate, register, startGpugate } from '../cluster/gpugate.ts';
import { mustKubectl } from '../cluster/kubectl.ts';
import { addNodes } from '../cluster/nodes.ts';
import type { CommandResult } from '../cluster/run.ts';

/** A control plane whose GPU pods gpugate judges, as `npm run cluster` has it. */
export interface Governed {
  readonly plane: ControlPlane;
  readonly gpugate: Gpugate;
  readonly api: Api;
  /** kubectl that must succeed; what it printed to stdout. */
  readonly must: (args: string, input?: unknown) => Promise<string>;
  /** kubectl that may fail. */
  readonly run: (args: string, input?: unknown) => Promise<CommandResult>;
  readonly stop: () => Promise<void>;
}

export interface GovernedOptions {
  /** A directory of policies; without one the ready-made ones are applied to the cluster. */
  readonly policies?: string;
  /** False leaves it to the test to install the CRD and the policies, and to register the webhooks. */
  readonly installed?: boolean;
  /** False leaves it to the test to register the webhooks. */
  readonly registered?: boolean;
}

export async function startGoverned(options: GovernedOptions = {}): Promise<Governed> {
  const plane = await startControlPlane({ log: console.log });
  let gpugate: Gpugate | undefined;
  const stop = async () => {
    await gpugate?.stop();
    await plane.stop();
  };
  try {
    await addNodes(plane);
    await addNamespaces(plane);
    const { policies, installed = true, registered = installed } = options;
    const inCluster = policies === undefined && installed;
    if (inCluster) await addCrd(plane);
    gpugate = await startGpugate(plane, policies === undefined ? {} : { policies });
    if (registered) await register(plane, gpugate);
    if (inCluster) await addPolicies(plane);
    for (const namespace of await namespacesOf(plane)) await serviceAccount(plane, namespace);
  } catch (error) {
    await stop();
    throw error;
  }
  const inputOf = (input: unknown) => (typeof input === 'string' ? input : JSON.stringify(input));
  return {
    plane,
    gpugate,
    api: apiOf(plane),
    must: (args, input) =>
      mustKubectl(plane.kubectl, args.split(' '), input === undefined ? undefined : inputOf(input)),
    run: (args, input) => plane.kubectl(args.split(' '), input === undefined ? {} : { input: inputOf(input) }),
    stop,
  };
}

async function namespacesOf(plane: ControlPlane): Promise<readonly string[]> {
  return (await mustKubectl(plane.kubectl, ['get', 'namespaces', '-o', 'name'])).trim().split('\n');
}

/** A pod is refused until its namespace has a service account, which the controller manager makes. */
async function serviceAccount(plane: ControlPlane, namespace: string): Promise<void> {
  const name = namespace.replace('namespace/', '');
  await mustKubectl(plane.kubectl, ['wait', '--for=create', 'serviceaccount/default', '-n', name, '--timeout=20s']);
}

/** A container that asks for one GPU under limits, or for what `resources` says. */
export function container(
  name: string,
  resources: object = { limits: { 'nvidia.com/gpu': 1 } },
  more: object = {},
): object {
  return { name, image: 'registry.example/x:1', resources, ...more };
}

export function pod(name: string, namespace: string, containers: readonly object[], spec: object = {}): object {
  return { apiVersion: 'v1', kind: 'Pod', metadata: { name, namespace }, spec: { containers, ...spec } };
}

export function deployment(name: string, namespace: string, replicas: number, containers: readonly object[]): object {
  const labels = { app: name };
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name, namespace },
    spec: { replicas, selector: { matchLabels: labels }, template: { metadata: { labels }, spec: { containers } } },
  };
}
