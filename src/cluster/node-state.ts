import { asArray, asObject, type JsonObject } from '../admission/pod.ts';
import type { NodeInfo } from '../admission/snapshot.ts';
import type { KubernetesObject } from './store.ts';

/** A Node, as far as it is looked at. */
export interface NodeState extends NodeInfo {
  readonly capacity: Readonly<Record<string, string>>;
  readonly taints: readonly Taint[];
  readonly unschedulable: boolean;
  readonly conditions: readonly NodeCondition[];
}

export interface Taint {
  readonly key: string;
  readonly value?: string | undefined;
  readonly effect: string;
}

export interface NodeCondition {
  readonly type: string;
  readonly status: string;
  readonly reason: string;
  readonly message: string;
}

export function nodeState(object: KubernetesObject): NodeState {
  const { spec, status } = object as { spec?: JsonObject; status?: JsonObject };
  return {
    name: String(object.metadata?.name),
    labels: object.metadata?.labels ?? {},
    allocatable: quantities(status?.allocatable),
    capacity: quantities(status?.capacity),
    unschedulable: spec?.unschedulable === true,
    taints: asArray(spec?.taints).flatMap((taint) => {
      const { key, value, effect } = asObject(taint) ?? {};
      return [{ key: String(key), effect: String(effect), ...(typeof value === 'string' ? { value } : {}) }];
    }),
    conditions: asArray(status?.conditions).map((condition) => {
      const { type, status: is, reason = '', message = '' } = asObject(condition) ?? {};
      return { type: String(type), status: String(is), reason: String(reason), message: String(message) };
    }),
  };
}

/** Resources and how much of each, as text: what is allocatable, a quota. */
export function quantities(value: unknown): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(asObject(value) ?? {}).map(([key, text]) => [key, String(text)]));
}
