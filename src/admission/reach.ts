import { asArray, asObject, type PodView } from './pod.ts';
import type { NodeInfo } from './snapshot.ts';

const MOST_TERMS = 100;

/**
 * Whether a pod may be scheduled to a node by its nodeName, nodeSelector and required node affinity
 * (k8s.io/component-helpers scheduling/corev1/nodeaffinity). Taints, free capacity and readiness are not looked at.
 */
export function canReach(pod: PodView, node: NodeInfo): boolean {
  if (pod.nodeName !== undefined && pod.nodeName !== node.name) return false;
  for (const [key, value] of Object.entries(asObject(pod.spec.nodeSelector) ?? {})) {
    if (label(node, key) !== value) return false;
  }
  const affinity = asObject(asObject(pod.spec.affinity)?.nodeAffinity);
  const required = asObject(affinity?.requiredDuringSchedulingIgnoredDuringExecution);
  if (!required) return true;
  const terms = asArray(required.nodeSelectorTerms);
  // Nobody writes that many by hand; every node counting gives the smallest share, and no long search.
  if (terms.length > MOST_TERMS) return true;
  // The terms are alternatives, and an empty term matches nothing.
  return terms.some((term) => matchesTerm(asObject(term), node));
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
