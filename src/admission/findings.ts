import type { NodeRequirement, Toleration } from '../policy/policy.ts';

/**
 * The catalogue of codes. A code is never reused for something else: dashboards, exceptions and documentation name it.
 * The text is the rule in a few words; docs/rules/ has a page for each.
 */
export const CODES = {
  GPU001: 'value is not a quantity',
  GPU002: 'fraction of a GPU',
  GPU003: 'negative, or more GPUs than any machine has',
  GPU004: 'request without a limit',
  GPU005: 'request differs from limit',
  GPU006: 'request defaulted from limit',
  GPU007: 'two kinds of GPU in one container',
  GPU008: 'resource name that no device plugin uses',
  GPU009: 'zero GPUs',
  GPU101: 'policy, label or annotation is invalid',
  GPU102: 'more GPUs than the policy allows',
  GPU110: 'whole GPU rewritten to a MIG profile',
  GPU111: 'MIG profile is not allowed here',
  GPU112: 'several MIG slices for one container',
  GPU113: 'MIG profile that no known board has',
  GPU120: 'more than one unit of a shared GPU',
  GPU121: 'resource renamed to the shared name',
  GPU122: 'several containers of a pod share a GPU',
  GPU130: 'placement added: node affinity, tolerations',
  GPU131: 'runtime class set, or missing',
  GPU140: 'memory cap added',
  GPU141: 'memory cap looser than the policy',
  GPU142: 'wanted memory cap above the maximum',
  GPU143: 'memory cap cannot be computed',
  GPU144: 'memory cap variable that cannot work here',
  GPU145: 'memory cap switched off',
  GPU150: 'GPUs hidden from a container that asks for none',
  GPU151: 'GPUs asked for by variable',
  GPU152: 'another way round the device plugin',
  GPU160: 'no node offers this resource, or not so much of it',
  GPU161: 'a quota or limit range speaks of another name',
  GPU162: 'takes a GPU node and asks for no GPU',
  GPU170: 'left to another scheduler',
  GPU180: 'a required change is missing from the final pod',
} as const;

export type Code = keyof typeof CODES;
export type Severity = 'error' | 'warning' | 'note';

/** A container by where it stands: `spec.initContainers[0]` and its name. */
export interface ContainerAt {
  readonly field: string;
  readonly path: readonly (string | number)[];
  readonly name: string;
}

/** One thing that is wrong or worth saying, as plain data. */
export interface Finding {
  readonly code: Code;
  readonly severity: Severity;
  /** The container it is about; undefined for the whole pod. */
  readonly container?: ContainerAt;
  /** Path of the offending field, such as `spec.containers[0].resources.limits[nvidia.com/gpu]`. */
  readonly field: string;
  /** The value as the user wrote it, where that is known. */
  readonly value?: string;
  /** What is wrong and why: one sentence without the container's name. */
  readonly message: string;
  /** What to do about it: one sentence. */
  readonly fix: string;
  /** The API server itself refuses this, so every mode does (design: arithmetic). */
  readonly refusedAnyway?: boolean;
  /** Validation warns of it too, since the pod may come to that webhook alone. The API server drops a repeated warning. */
  readonly repeated?: boolean;
}

/** A typed edit of the pod. `patch.ts` turns it into JSON Patch; nothing else does. */
export type Change = ChangeReason &
  (
    | {
        readonly type: 'set-request';
        readonly container: ContainerAt;
        readonly resource: string;
        readonly quantity: string;
      }
    | {
        readonly type: 'rename-resource';
        readonly container: ContainerAt;
        readonly from: string;
        readonly to: string;
        readonly quantity: string;
      }
    | { readonly type: 'drop-resource'; readonly container: ContainerAt; readonly resource: string }
    | { readonly type: 'set-env'; readonly container: ContainerAt; readonly name: string; readonly value: string }
    | { readonly type: 'require-node'; readonly requirement: NodeRequirement }
    | { readonly type: 'add-toleration'; readonly toleration: Toleration }
    | { readonly type: 'set-runtime-class'; readonly name: string }
    | { readonly type: 'set-annotation'; readonly name: string; readonly value: string }
  );

interface ChangeReason {
  readonly code: Code;
  /** Why, as a phrase: `memory cap 3584Mi (auto)`. */
  readonly reason: string;
  /** Validation refuses the final pod without it (GPU180). */
  readonly required: boolean;
}

export interface Verdict {
  readonly findings: readonly Finding[];
  readonly changes: readonly Change[];
}

/** Takes what a rule finds, or wants changed, one at a time. */
export type Tell = (result: Finding | Change) => void;

/** A verdict that is being made, and what adds to it. */
export function collect(): { readonly verdict: Verdict; readonly tell: Tell } {
  const findings: Finding[] = [];
  const changes: Change[] = [];
  const tell = (result: Finding | Change) => {
    if (isChange(result)) changes.push(result);
    else findings.push(result);
  };
  return { verdict: { findings, changes }, tell };
}

export function isChange(result: Finding | Change): result is Change {
  return 'type' in result;
}
