import { asArray, asObject, type JsonObject } from '../admission/pod.ts';
import { isReady } from './is-ready.ts';
import type { KubernetesObject } from './store.ts';
import type { TargetKind } from './workload-pods.ts';

const QUEUE = 'kueue.x-k8s.io/queue-name';

/** Why a workload wants no pod now, or no further one, behind its name; undefined where it does. `sets` are a Deployment's ReplicaSets. */
export function whyIdle(
  kind: TargetKind,
  object: KubernetesObject,
  pods: readonly KubernetesObject[],
  sets: readonly KubernetesObject[],
): string | undefined {
  const { metadata, spec = {}, status = {} } = object as Workload;
  switch (kind) {
    case 'pod':
      return undefined;
    case 'job':
      return (
        ended(status) ?? suspended(metadata, spec) ?? (spec.parallelism === 0 ? 'asks for 0 pods at a time' : undefined)
      );
    case 'cronjob':
      return suspended(metadata, spec) ?? `has no job now; its schedule is ${String(spec.schedule)}`;
    default:
      break;
  }
  if (spec.replicas === 0) return 'asks for 0 replicas';
  if (Number(metadata?.generation ?? 0) > Number(status.observedGeneration ?? 0)) {
    return 'was not looked at by its controller yet';
  }
  if (kind === 'deployment' && spec.paused === true && sets.length === 0) return 'is paused, and was never rolled out';
  if (kind === 'daemonset' && status.desiredNumberScheduled === 0) {
    return 'has no node: none is one that selector, affinity and tolerations of its pods let them go to';
  }
  return kind === 'statefulset' ? predecessor(spec, pods) : undefined;
}

interface Workload {
  readonly metadata?: { readonly generation?: number; readonly labels?: Readonly<Record<string, string>> };
  readonly spec?: JsonObject;
  readonly status?: JsonObject;
}

function suspended({ labels = {} }: Workload['metadata'] = {}, { suspend }: JsonObject): string | undefined {
  if (suspend !== true) return undefined;
  const queue = Object.hasOwn(labels, QUEUE) ? labels[QUEUE] : undefined;
  return queue === undefined ? 'is suspended' : `is suspended, as Kueue keeps it until it has room in queue ${queue}`;
}

function ended({ conditions }: JsonObject): string | undefined {
  const is = (wanted: string) =>
    asArray(conditions)
      .map(asObject)
      .find((condition) => condition?.type === wanted && condition.status === 'True');
  if (is('Complete')) return 'is complete';
  const failed = is('Failed');
  return failed && `has failed: ${[failed.reason, failed.message].filter((part) => part !== undefined).join(': ')}`;
}

/** Its pods come one after the other, each once the one before is ready, unless it is told otherwise. */
function predecessor(spec: JsonObject, pods: readonly KubernetesObject[]): string | undefined {
  const { replicas = 1, podManagementPolicy } = spec;
  if (podManagementPolicy === 'Parallel' || pods.length >= Number(replicas)) return undefined;
  const waited = pods.find((pod) => !isReady(pod));
  return waited && `makes one pod after the other, and waits for pod/${waited.metadata?.name} to be ready`;
}
