import type { EffectivePolicy } from '../policy/policy.ts';
import { migResource, WHOLE_GPU } from '../policy/resources.ts';
import { cappedContainers, memoryCap } from './cap.ts';
import type { MemoryCap } from './cap-size.ts';
import type { Tell } from './findings.ts';
import { type Originals, readOriginals } from './originals.ts';
import { type Placement, placementOf } from './placement.ts';
import { type ContainerView, type GpuAsk, type PodView, unitsAsked, viewPod } from './pod.ts';
import { type ChosenProfile, chooseProfile } from './profile.ts';
import type { Snapshot } from './snapshot.ts';
import { type TypedValues, typedValues } from './typed.ts';

/** One object under review: a Pod, or a pod template inside another kind. */
export interface PodRequest {
  /** The Pod or the template, with metadata and spec. Never changed. */
  readonly pod: unknown;
  /** Where the pod stands in the reviewed object: empty, or ['spec', 'template']. */
  readonly path: readonly (string | number)[];
  /** Kind of the reviewed object. */
  readonly kind?: string;
  /** The whole reviewed object, for the value that the user typed (last-applied annotation). */
  readonly object?: unknown;
  /** For pods/ephemeralcontainers: the pod as it was. Only containers that it lacks are judged. */
  readonly before?: unknown;
}

/** A GPU resource and the container that asks for it. */
export interface AskAt {
  readonly container: ContainerView;
  readonly ask: GpuAsk;
}

/** What every rule reads. Derived facts are computed once, when a rule first asks. */
export interface Context {
  readonly request: PodRequest;
  readonly policy: EffectivePolicy;
  readonly snapshot: Snapshot;
  readonly pod: PodView;
  /** The containers that are judged; for an ephemeral container UPDATE only the new ones. */
  readonly containers: readonly ContainerView[];
  /** Every GPU resource of every judged container. */
  readonly asks: readonly AskAt[];
  /** Every ask is a plain count, of which arithmetic has nothing to say. */
  readonly plainCounts: boolean;
  /** The pod is new (not an ephemeral container added to one that runs). */
  readonly whole: boolean;
  /** The scheduler that the policy leaves the pod to, if any. */
  readonly leftTo: string | undefined;
  /** Requests from before a rename, as an earlier round of this webhook noted them. */
  readonly originals: Originals;
  readonly profile: () => ChosenProfile;
  readonly placement: () => Placement;
  /** The containers that get memory caps. */
  readonly capped: () => readonly ContainerView[];
  readonly cap: () => MemoryCap;
  readonly typed: () => TypedValues;
}

/**
 * One rule in one file. `needs` says when it is asked, so that an ordinary pod costs only the rules that can say something of it:
 * - `arithmetic`: always; `odd-counts`: unless every GPU is asked for by a plain count, equal in limit and request
 * - `namespace`: wherever a policy governs, broken or not
 * - `guard`: likewise, where the policy looks at ways round the device plugin, and not for pods that are left to another
 *   scheduler, which hands out GPUs in its own way
 * - `policy`: only with a policy that was understood, and not for those pods either; `mig`, `shared`, `cap`: only if it is
 *   about slices, shares, or memory caps
 */
export interface Rule {
  readonly needs: 'arithmetic' | 'odd-counts' | 'namespace' | 'guard' | 'policy' | 'mig' | 'shared' | 'cap';
  readonly check: (context: Context, tell: Tell) => void;
}

/** Counts of which the arithmetic rules have nothing to say: from 1 to what an int32 holds, limit and request alike. */
function isPlain({ ask }: AskAt): boolean {
  const { limit, request, units } = ask;
  return limit !== undefined && request !== undefined && units !== undefined && units > 0n && units < 1n << 31n;
}

export function contextOf(request: PodRequest, policy: EffectivePolicy, snapshot: Snapshot): Context {
  const pod = viewPod(request.pod, request.path, snapshot.gpuResources);
  const containers = request.before === undefined ? pod.containers : addedContainers(pod, request, snapshot);
  const asks: AskAt[] = [];
  for (const container of containers) for (const ask of container.gpus) asks.push({ container, ask });
  const context: Context = {
    request,
    policy,
    snapshot,
    pod,
    containers,
    asks,
    plainCounts: asks.every(isPlain),
    whole: request.before === undefined,
    leftTo: policy.otherSchedulers.find((name) => name === pod.schedulerName),
    originals: readOriginals(pod.annotations),
    profile: once(() => chooseProfile(context)),
    placement: once(() => placementOf(context)),
    capped: once(() => cappedContainers(context)),
    cap: once(() => memoryCap(context)),
    typed: once(() => typedValues(request.object ?? request.pod, request.path)),
  };
  return context;
}

/** The ephemeral containers that the pod did not have before. */
function addedContainers(pod: PodView, request: PodRequest, { gpuResources }: Snapshot): readonly ContainerView[] {
  const before = viewPod(request.before, request.path, gpuResources);
  const known = new Set(before.containers.filter(({ role }) => role === 'ephemeral').map(({ name }) => name));
  return pod.containers.filter(({ role, name }) => role === 'ephemeral' && !known.has(name));
}

/** The resource that a sound, non-zero ask ends up as: its own name, or the one that the policy renames it to. */
export function finalResource(context: Context, ask: GpuAsk): string {
  const { policy } = context;
  if (ask.resource.name !== WHOLE_GPU || !unitsAsked(ask) || context.leftTo || policy.problems.length > 0) {
    return ask.resource.name;
  }
  if (policy.sharing === 'mig') {
    if (policy.mig?.nodeLabels) return WHOLE_GPU;
    const { profile } = context.profile();
    return profile === undefined ? WHOLE_GPU : migResource(profile);
  }
  return policy.shared?.resource ?? WHOLE_GPU;
}

function once<T>(compute: () => T): () => T {
  let known: { readonly value: T } | undefined;
  return () => {
    known ??= { value: compute() };
    return known.value;
  };
}
