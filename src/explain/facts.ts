import { asArray, asObject, type JsonObject, type PodView, viewPod } from '../admission/pod.ts';
import { parseQuantity, wholeUnits } from '../admission/quantity.ts';
import { reachOf } from '../admission/reach.ts';
import { podTotal } from '../admission/totals.ts';
import type { NodeState } from '../cluster/node-state.ts';
import type { ExplainInput, Holder } from './input.ts';
import type { State } from './result.ts';

/** The input, and what every layer wants to know of it. */
export interface Facts extends ExplainInput {
  readonly view: PodView;
  readonly status: JsonObject;
  readonly state: State;
  /** Units of each GPU resource that the pod takes of its node; none with zero. */
  readonly needs: ReadonlyMap<string, bigint>;
  /** GPU resources that a DeviceClass serves: no node advertises them, the scheduler allocates claims instead. */
  readonly claimed: readonly string[];
  /** The pod brings claims of its own. */
  readonly hasClaims: boolean;
  /** Nodes that nodeName, nodeSelector and required affinity let it go to. */
  readonly reachable: readonly NodeState[];
  /** It names its node itself, and no kubelet has looked at it: binding sets PodScheduled, and so does the kubelet. */
  readonly byItself: boolean;
  /** The holders beside this pod. */
  readonly others: readonly Holder[];
}

export function factsOf(input: ExplainInput): Facts {
  const view = viewPod(input.pod, [], input.gpuResources);
  const all = unitsOf(view);
  const served = (name: string) =>
    (input.deviceClassResources?.has(name) ?? false) &&
    !(input.nodes ?? []).some((node) => unitsIn(node.allocatable, name) > 0n);
  const { metadata, status = {} } = asObject(input.pod) ?? {};
  const own = input.exists ? asObject(metadata)?.name : undefined;
  return {
    ...input,
    view,
    status: asObject(status) ?? {},
    state: stateOf(input, view),
    needs: new Map([...all].filter(([name]) => !served(name))),
    claimed: [...all.keys()].filter(served),
    hasClaims: asArray(view.spec.resourceClaims).length > 0 || view.containers.some(({ hasClaims }) => hasClaims),
    reachable: (input.nodes ?? []).filter(reachOf(view)),
    byItself: view.nodeName !== undefined && !scheduledCondition(asObject(status) ?? {}),
    others: (input.holders ?? []).filter(({ name, namespace }) => name !== own || namespace !== input.namespace),
  };
}

/** Units of each GPU resource that a pod holds of its node, as the scheduler counts them. */
export function unitsOf(view: PodView): ReadonlyMap<string, bigint> {
  const names = new Set(view.containers.flatMap(({ gpus }) => gpus.map(({ resource }) => resource.name)));
  const totals = Array.from(names, (name) => {
    const units = podTotal(
      view.containers,
      ({ gpus }) => gpus.find(({ resource }) => resource.name === name)?.units ?? 0n,
    );
    return [name, units] as const;
  });
  return new Map(totals.filter(([, units]) => units > 0n));
}

/** Whole units of a resource in a list of quantities; zero where it does not stand or is none. */
export function unitsIn(list: Readonly<Record<string, string>>, name: string): bigint {
  const text = Object.hasOwn(list, name) ? list[name] : undefined;
  const quantity = text === undefined ? undefined : parseQuantity(text);
  return quantity ? wholeUnits(quantity) : 0n;
}

/** Units of a resource that the pods on a node hold, and which pods those are, the largest first. */
export function takenOn(
  node: NodeState,
  resource: string,
  holders: readonly Holder[],
): { readonly units: bigint; readonly by: readonly Holder[] } {
  const by = holders.filter((holder) => holder.node === node.name && (holder.units.get(resource) ?? 0n) > 0n);
  const of = ({ units }: Holder) => units.get(resource) ?? 0n;
  return { units: by.reduce((sum, holder) => sum + of(holder), 0n), by: by.sort((a, b) => Number(of(b) - of(a))) };
}

function stateOf({ pod, exists, idle }: ExplainInput, { spec, nodeName }: PodView): State {
  if (!exists) return idle === undefined ? 'refused' : 'idle';
  const { metadata, status } = asObject(pod) ?? {};
  const phase = asObject(status)?.phase;
  if (phase === 'Succeeded') return 'succeeded';
  if (phase === 'Failed') return 'failed';
  if (asObject(metadata)?.deletionTimestamp !== undefined) return 'ending';
  if (nodeName !== undefined) return phase === 'Running' ? 'running' : 'starting';
  return asArray(spec.schedulingGates).length > 0 ? 'gated' : 'waiting';
}

/** The PodScheduled condition. */
export function scheduledCondition(status: JsonObject): JsonObject | undefined {
  return asArray(status.conditions)
    .map(asObject)
    .find((condition) => condition?.type === 'PodScheduled');
}

/** Whether it has no node yet, so that what nodes are like keeps it. */
export function hasNoNode({ state }: Facts): boolean {
  return state === 'waiting' || state === 'gated' || state === 'refused';
}

export function hasEnded({ state }: Facts): boolean {
  return state === 'succeeded' || state === 'failed';
}

/** Whether a scheduler is looking for a node for it. */
export function isWaiting({ state }: Facts): boolean {
  return state === 'waiting';
}

/** `a, b, c and 4 more`. */
export function listed(names: readonly string[], most = 5): string {
  if (names.length <= most) return names.join(', ');
  return `${names.slice(0, most).join(', ')} and ${names.length - most} more`;
}

export function counted(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? '' : 's'}`;
}

/** `kubectl describe pod train-0 -n team-a` */
export function kubectl(command: string, namespace?: string): string {
  return `kubectl ${command}${namespace === undefined ? '' : ` -n ${namespace}`}`;
}
