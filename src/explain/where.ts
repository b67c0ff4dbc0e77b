import { asArray, asObject, type JsonObject } from '../admission/pod.ts';
import { reachOf } from '../admission/reach.ts';
import type { NodeState } from '../cluster/node-state.ts';
import { type Facts, listed } from './facts.ts';
import type { Reason, ReasonCode } from './result.ts';

/** Labels that name the model of a GPU: feature discovery, GKE, Karpenter. */
const PRODUCT_LABELS = [
  'nvidia.com/gpu.product',
  'cloud.google.com/gke-accelerator',
  'karpenter.k8s.aws/instance-gpu-name',
];

/** One thing that the pod wants of a node. */
interface Wanted {
  readonly text: string;
  readonly key: string;
  readonly values: readonly string[];
  readonly meets: (node: NodeState) => boolean;
}

/** What the pod wants of a node, by nodeName, nodeSelector and required affinity; alternatives of the latter are one list each. */
export function wishesOf({ view }: Facts): { readonly every: readonly Wanted[]; readonly anyOf: readonly Wanted[][] } {
  const every: Wanted[] = [];
  if (view.nodeName !== undefined) {
    const name = view.nodeName;
    every.push({ text: `nodeName ${name}`, key: '', values: [name], meets: (node) => node.name === name });
  }
  for (const [key, value] of Object.entries(asObject(view.spec.nodeSelector) ?? {})) {
    if (typeof value === 'string') every.push(wanted(`${key}=${value}`, { key, operator: 'In', values: [value] }));
  }
  const affinity = asObject(asObject(view.spec.affinity)?.nodeAffinity);
  const terms = asArray(asObject(affinity?.requiredDuringSchedulingIgnoredDuringExecution)?.nodeSelectorTerms);
  const anyOf = terms.map((term) => {
    const { matchExpressions, matchFields } = asObject(term) ?? {};
    return [
      ...asArray(matchExpressions).map((expression) => wanted(textOf(asObject(expression)), asObject(expression))),
      ...asArray(matchFields).map((field) => wanted(textOf(asObject(field)), asObject(field), 'matchFields')),
    ];
  });
  return { every, anyOf };
}

/** Asks about one expression in the way in which the whole pod is asked about. */
function wanted(text: string, expression: JsonObject | undefined, list = 'matchExpressions'): Wanted {
  const required = { nodeSelectorTerms: [{ [list]: [expression] }] };
  const spec = { affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: required } } };
  const meets = reachOf({
    annotations: new Map(),
    containers: [],
    schedulerName: '',
    nodeName: undefined,
    path: [],
    spec,
  });
  const { key, operator, values } = expression ?? {};
  const named = operator === 'In' ? asArray(values).filter((value) => typeof value === 'string') : [];
  return { text, key: typeof key === 'string' ? key : '', values: named, meets };
}

function textOf(expression: JsonObject | undefined): string {
  const { key, operator, values } = expression ?? {};
  const list = asArray(values).join(', ');
  const short: Record<string, string> = { Gt: `${key} > ${list}`, Lt: `${key} < ${list}`, Exists: `${key}` };
  return short[String(operator)] ?? `${key} ${String(operator)}${list === '' ? '' : ` [${list}]`}`;
}

/** Why no node at all, or none of `among`, is one that the pod may go to. */
export function whyUnreached(facts: Facts, among: readonly NodeState[]): readonly Reason[] {
  const { every, anyOf } = wishesOf(facts);
  const unmet = every.filter(({ meets }) => !among.some(meets));
  // Of several alternatives one would do; all of them are told of.
  const unmetTerms = anyOf.every((term) => term.some(({ meets }) => !among.some(meets)))
    ? anyOf.flatMap((term) => term.filter(({ meets }) => !among.some(meets)))
    : [];
  const wishes = [...unmet, ...unmetTerms];
  if (wishes.length === 0) {
    const all = [...every, ...anyOf.flat()].map(({ text }) => text);
    return [
      {
        code: selectorCode(facts, among),
        text: `each of ${listed(all)} is met by some node, but no node meets all of them`,
        next: 'kubectl get nodes --show-labels',
      },
    ];
  }
  const seen = new Set<string>();
  return wishes.flatMap((wish) => {
    if (seen.has(wish.text)) return [];
    seen.add(wish.text);
    return [whyUnmet(facts, wish, among)];
  });
}

/** A pod without GPUs might well go where the others are. */
function selectorCode({ nodes = [] }: Facts, among: readonly NodeState[]): ReasonCode {
  return among.length === nodes.length ? 'node-selector' : 'gpus-elsewhere';
}

function whyUnmet(facts: Facts, { key, values, text }: Wanted, among: readonly NodeState[]): Reason {
  const code = selectorCode(facts, among);
  const which =
    code === 'node-selector'
      ? 'no node'
      : `none of the nodes that have enough of its GPUs (${listed(among.map(({ name }) => name))})`;
  const next = key === '' ? 'kubectl get nodes' : `kubectl get nodes -L ${key}`;
  const known = [...new Set(among.flatMap(({ labels }) => (Object.hasOwn(labels, key) ? [String(labels[key])] : [])))];
  const there = known.length > 0 ? `; there is ${listed(known.sort())}` : '';
  if (PRODUCT_LABELS.includes(key) && values.length > 0) {
    return { code: 'no-such-product', text: `${which} has the product ${values.join(' or ')}${there}`, next };
  }
  return { code, text: `${which} meets ${text}${key === '' ? '' : there}`, next };
}
