import type { NodeRequirement, Toleration } from '../policy/policy.ts';
import type { Context } from './context.ts';
import { asArray, asksForGpu, asObject, type JsonObject, type PodView } from './pod.ts';
import type { NodeInfo } from './snapshot.ts';

/** Where the policy wants a GPU pod to run. */
export interface Placement {
  readonly requirements: readonly NodeRequirement[];
  readonly tolerations: readonly Toleration[];
  /** Why no requirement is added although the policy has some; undefined where they are added. */
  readonly left?: string;
}

const NOWHERE: Placement = { requirements: [], tolerations: [] };
const PROFILE = '{profile}';

/** The placement of a pod with NVIDIA GPUs; nothing for others, nor for what is left to another scheduler. */
export function placementOf({ policy, pod, request, leftTo, profile }: Context): Placement {
  const wantsGpu = pod.containers.some((container) => asksForGpu(container) && hasNvidia(container));
  if (!wantsGpu || leftTo || policy.problems.length > 0) return NOWHERE;
  const { profile: chosen } = profile();
  const slices = Object.entries(policy.mig?.nodeLabels ?? {}).map(([key, template]) => ({
    key,
    operator: 'In' as const,
    values: [template.replaceAll(PROFILE, chosen ?? PROFILE)],
  }));
  const requirements = [...policy.nodes, ...(chosen === undefined ? [] : slices)];
  const { tolerations } = policy;
  if (requirements.length === 0) return { requirements, tolerations };
  // A DaemonSet's controller pins each pod to its node by matchFields: further terms would strand the pod there.
  if (request.kind === 'DaemonSet' || ownedByDaemonSet(request.pod)) {
    return { requirements: [], tolerations, left: 'a DaemonSet decides by its template where its pods run' };
  }
  if (pod.nodeName !== undefined) {
    return { requirements: [], tolerations, left: `nodeName is ${pod.nodeName}` };
  }
  return { requirements, tolerations };
}

function hasNvidia({ gpus }: { readonly gpus: PodView['containers'][number]['gpus'] }): boolean {
  return gpus.some(({ resource }) => resource.vendor === 'nvidia.com');
}

function ownedByDaemonSet(pod: unknown): boolean {
  const owners = asArray(asObject(asObject(pod)?.metadata)?.ownerReferences).map(asObject);
  return owners.some((owner) => owner?.controller === true && owner.kind === 'DaemonSet');
}

/** The alternatives of a pod's required node affinity; undefined when it has none. */
export function nodeSelectorTerms(spec: JsonObject): readonly (JsonObject | undefined)[] | undefined {
  const affinity = asObject(asObject(spec.affinity)?.nodeAffinity);
  const terms = asArray(asObject(affinity?.requiredDuringSchedulingIgnoredDuringExecution)?.nodeSelectorTerms);
  return terms.length > 0 ? terms.map(asObject) : undefined;
}

/** An empty term matches no node, so there is nothing to add to it. */
export function isEmptyTerm(term: JsonObject | undefined): boolean {
  return asArray(term?.matchExpressions).length + asArray(term?.matchFields).length === 0;
}

export function termRequires(term: JsonObject | undefined, { key, operator, values }: NodeRequirement): boolean {
  return asArray(term?.matchExpressions)
    .map(asObject)
    .some((expression) => {
      const listed = asArray(expression?.values);
      const same = listed.length === values.length && values.every((value) => listed.includes(value));
      return expression?.key === key && expression.operator === operator && same;
    });
}

/** Whether the pod holds to a requirement already: in every alternative of its affinity, or by its node selector. */
export function holdsTo({ spec }: PodView, requirement: NodeRequirement): boolean {
  const selected = asObject(spec.nodeSelector)?.[requirement.key];
  if (typeof selected === 'string') {
    const listed = requirement.values.includes(selected);
    if (listed === (requirement.operator === 'In')) return true;
  }
  const terms = nodeSelectorTerms(spec);
  return terms?.every((term) => isEmptyTerm(term) || termRequires(term, requirement)) ?? false;
}

/** Whether a node is one that the requirement means. */
export function meets(node: NodeInfo, { key, operator, values }: NodeRequirement): boolean {
  const actual = Object.hasOwn(node.labels, key) ? node.labels[key] : undefined;
  return (actual !== undefined && values.includes(actual)) === (operator === 'In');
}

/** Set semantics (k8s.io/component-helpers scheduling/corev1): no key with Exists is every key, no effect is every effect. */
export function tolerates({ spec }: PodView, wanted: Toleration): boolean {
  return asArray(spec.tolerations)
    .map(asObject)
    .some((own) => {
      const exists = own?.operator === 'Exists';
      const key = own?.key ?? '';
      const keyFits = key === wanted.key || (key === '' && exists);
      const valueFits = exists || (wanted.operator !== 'Exists' && (own?.value ?? '') === (wanted.value ?? ''));
      const effectFits = (own?.effect ?? '') === '' || own?.effect === wanted.effect;
      return keyFits && valueFits && effectFits;
    });
}
