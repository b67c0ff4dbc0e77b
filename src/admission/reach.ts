import { asArray, asObject, type JsonObject, type PodView } from './pod.ts';
import type { NodeInfo } from './snapshot.ts';

/** Longer affinities are not searched for every node: no person writes them, and they would hold up every other pod. */
const LONGEST_AFFINITY = 1000;

/**
 * Whether a pod may be scheduled to a node by its nodeName, nodeSelector and required node affinity
 * (k8s.io/component-helpers scheduling/corev1/nodeaffinity). Taints, free capacity and readiness are not looked at. With
 * an affinity that is too long every node counts, so that the smallest share is used.
 */
export function reachOf(pod: PodView): (node: NodeInfo) => boolean {
  const selector = Object.entries(asObject(pod.spec.nodeSelector) ?? {});
  const affinity = asObject(asObject(pod.spec.affinity)?.nodeAffinity);
  const required = asObject(affinity?.requiredDuringSchedulingIgnoredDuringExecution);
  const terms = asArray(required?.nodeSelectorTerms).map(asObject);
  // Without a term the API server refuses the pod, unless a placement adds the first one.
  const everywhere = terms.length === 0 || lengthOf(terms) > LONGEST_AFFINITY;
  return (node) => {
    if (pod.nodeName !== undefined && pod.nodeName !== node.name) return false;
    if (!selector.every(([key, value]) => label(node, key) === value)) return false;
    // The terms are alternatives, and an empty term matches nothing.
    return everywhere || terms.some((term) => matchesTerm(term, node));
  };
}

function lengthOf(terms: readonly (JsonObject | undefined)[]): number {
  const requirements = terms.flatMap((term) => [...asArray(term?.matchExpressions), ...asArray(term?.matchFields)]);
  const values = requirements.reduce<number>((sum, item) => sum + asArray(asObject(item)?.values).length, 0);
  return terms.length + requirements.length + values;
}

function matchesTerm(term: Readonly<Record<string, unknown>> | undefined, node: NodeInfo): boolean {
  const expressions = asArray(term?.matchExpressions);
  const fields = asArray(term?.matchFields);
  if (expressions.length + fields.length === 0) return false;
  return (
    expressions.every((expression) => matches(asObject(expression), (key) => label(node, key))) &&
    fields.every((field) => matches(asObject(field), (key) => (key === 'metadata.name' ? node.name : undefined)))
  );
}

function matches(
  requirement: Readonly<Record<string, unknown>> | undefined,
  read: (key: string) => string | undefined,
): boolean {
  const { key, values: listed } = requirement ?? {};
  const actual = typeof key === 'string' ? read(key) : undefined;
  const values = asArray(listed).filter((value) => typeof value === 'string');
  switch (requirement?.operator) {
    case 'In':
      return actual !== undefined && values.includes(actual);
    case 'NotIn':
      return actual === undefined || !values.includes(actual);
    case 'Exists':
      return actual !== undefined;
    case 'DoesNotExist':
      return actual === undefined;
    case 'Gt':
      return compared(actual, values[0], (a, b) => a > b);
    case 'Lt':
      return compared(actual, values[0], (a, b) => a < b);
    default:
      return false;
  }
}

/** Labels may be called `constructor`. */
function label({ labels }: NodeInfo, key: string): string | undefined {
  return Object.hasOwn(labels, key) ? labels[key] : undefined;
}

const INTEGER = /^[+-]?\d{1,19}$/;

function compared(
  actual: string | undefined,
  limit: string | undefined,
  test: (a: bigint, b: bigint) => boolean,
): boolean {
  if (actual === undefined || limit === undefined || !INTEGER.test(actual) || !INTEGER.test(limit)) return false;
  return test(BigInt(actual), BigInt(limit));
}
