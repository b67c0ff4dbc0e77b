import type { ApiClient } from '../../cluster/client.ts';
import { extendedResourceName, limitRangeOf, quotaOf } from '../../cluster/extras.ts';
import { all, existing, optional } from '../../cluster/read.ts';
import type { KubernetesObject } from '../../cluster/store.ts';
import { API_VERSION } from '../../policy/schema.ts';
import { storedPolicies } from '../../policy/stored.ts';
import type { Known } from './known.ts';

/**
 * What pods are judged by, as a cluster has it at this moment. Without namespaces, nodes and policies nothing true can be said, so
 * one of those that may not be listed rejects; what else may not be read is not known.
 */
export async function knownOfCluster(client: ApiClient, signal: AbortSignal): Promise<Known> {
  const list = (path: string) => all(client, path, signal);
  const maybe = (path: string) => optional(() => list(path));
  const [namespaces, nodes, policies, quotas, limitRanges, deviceClasses, runtimeClasses] = await Promise.all([
    list('/api/v1/namespaces'),
    list('/api/v1/nodes'),
    existing(() => list(`/apis/${API_VERSION}/gpupolicies`)),
    maybe('/api/v1/resourcequotas'),
    maybe('/api/v1/limitranges'),
    maybe('/apis/resource.k8s.io/v1/deviceclasses'),
    maybe('/apis/node.k8s.io/v1/runtimeclasses'),
  ]);
  return {
    policies: storedPolicies(policies ?? []),
    namespaces: new Map(namespaces.map((object) => [nameOf(object), Object.freeze({ ...object.metadata?.labels })])),
    nodes: nodes.map((object) => {
      const { status } = object as { status?: { allocatable?: Readonly<Record<string, string>> } };
      return { name: nameOf(object), labels: { ...object.metadata?.labels }, allocatable: { ...status?.allocatable } };
    }),
    limits: quotas && limitRanges && [...quotas.map(quotaOf), ...limitRanges.map(limitRangeOf)],
    deviceClasses: deviceClasses && new Set(deviceClasses.map(extendedResourceName).filter((name) => name !== '')),
    runtimeClasses: runtimeClasses && new Set(runtimeClasses.map(nameOf)),
  };
}

function nameOf({ metadata }: KubernetesObject): string {
  return String(metadata?.name);
}
