import type { Logger } from 'pino';
import type { Cluster } from '../cluster/cluster.ts';
import type { PolicySource } from '../policy/files.ts';
import type { PolicySet } from '../policy/resolve.ts';
import type { Metrics } from '../server/metrics.ts';
import type { Configuration } from './configuration.ts';
import { EXIT, failure } from './exit.ts';

const NO_POLICIES: PolicySet = new Map();

/** The policies of the directory that was given, reloaded when they change; without one, those of the cluster, if there is one. */
export async function openPolicies(
  { policies }: Configuration,
  cluster: Pick<Cluster, 'policies'>,
  log: Logger,
  metrics: Metrics,
): Promise<PolicySource> {
  if (policies === undefined) return cluster.policies ?? { current: () => NO_POLICIES, close: () => {} };
  const { watchPolicies } = await import('../policy/files.ts');
  return orInput(watchPolicies(policies, { log, onReload: (result) => metrics.policyReloads.inc({ result }) }));
}

/** Namespaces and nodes: of files where any is given, else of a kubeconfig or of the cluster we run in, else none. */
export async function openSource(configuration: Configuration, log: Logger): Promise<Cluster> {
  const { namespaces, nodes, kubeconfig, policies } = configuration;
  if (namespaces === undefined && nodes === undefined && (kubeconfig !== undefined || insideCluster())) {
    const { openCluster } = await import('../cluster/cluster.ts');
    const watchPolicies = policies === undefined;
    return orInput(openCluster({ log, watchPolicies, ...(kubeconfig === undefined ? {} : { kubeconfig }) }));
  }
  if (namespaces === undefined) {
    log.warn('no namespaces are known: neither --namespaces nor --kubeconfig is given, so only arithmetic is judged');
  }
  const { openFiles } = await import('../cluster/files.ts');
  return orInput(
    openFiles({ ...(namespaces === undefined ? {} : { namespaces }), ...(nodes === undefined ? {} : { nodes }) }),
  );
}

/** Whether this is a pod: the kubelet sets the variable in every one (kubernetes.io, "Accessing the API from a Pod"). */
export function insideCluster(): boolean {
  return process.env.KUBERNETES_SERVICE_HOST !== undefined;
}

/** Turns an error about a file that was given into lines for the person who gave it. */
export async function orInput<T>(opening: Promise<T>): Promise<T> {
  try {
    return await opening;
  } catch (error) {
    throw failure(EXIT.input, (error as Error).message);
  }
}
