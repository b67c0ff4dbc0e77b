import { normalProfile, profileProblem, usableMiB } from '../policy/boards.ts';
import type { MigPolicy } from '../policy/policy.ts';
import type { Context } from './context.ts';
import type { Finding, Tell } from './findings.ts';
import { ORIGINAL, POLICY } from './originals.ts';
import { fieldPath, type PodView } from './pod.ts';
import { parseQuantity } from './quantity.ts';
import { quoted, shown } from './shown.ts';

const WISH = 'gpugate.dev/mig-profile';
const MIN_MEMORY = 'gpugate.dev/min-memory';
export const CAP_WISH = 'gpugate.dev/memory-cap';
const MIB_IN_NANO = (1n << 20n) * 1_000_000_000n;

/** The MIG profile for a pod's whole GPUs: its own wish where the policy allows it, else the policy's. */
export interface ChosenProfile {
  /** Undefined outside MIG namespaces, and when the wish can't be met. */
  readonly profile?: string;
  readonly problem?: Finding;
}

export function chooseProfile(context: Context): ChosenProfile {
  const { pod, policy } = context;
  const mig = policy.mig;
  const wish = pod.annotations.get(WISH);
  const memory = pod.annotations.get(MIN_MEMORY);
  if (!mig) {
    const name = wish !== undefined ? WISH : memory !== undefined ? MIN_MEMORY : undefined;
    return name === undefined ? {} : { problem: withoutEffect(pod, name, pod.annotations.get(name) ?? '') };
  }
  if (wish !== undefined) return wished(pod, wish, mig);
  if (memory !== undefined) return withMemory(pod, memory, mig);
  return { profile: mig.profile };
}

function wished(pod: PodView, wish: string, mig: MigPolicy): ChosenProfile {
  const profile = normalProfile(wish);
  if (mig.allowedProfiles.includes(profile)) return { profile };
  const problem = profileProblem(profile);
  if (problem) {
    return {
      problem: annotation(pod, 'GPU101', 'error', WISH, wish, `is ${shown(wish)}, which ${problem}`, allowedHere(mig)),
    };
  }
  const message = `is ${shown(wish)}, which the policy does not allow here`;
  return { problem: annotation(pod, 'GPU111', 'error', WISH, wish, message, allowedHere(mig)) };
}

/** The smallest allowed profile whose usable memory (not the number in its name) is at least the wish. */
function withMemory(pod: PodView, text: string, mig: MigPolicy): ChosenProfile {
  const quantity = parseQuantity(text);
  if (!quantity || quantity.nano <= 0n) {
    const fix = 'Write a quantity such as 9Gi.';
    return {
      problem: annotation(
        pod,
        'GPU101',
        'error',
        MIN_MEMORY,
        text,
        `is ${quoted(text)}, which is no amount of memory`,
        fix,
      ),
    };
  }
  const bySize = mig.allowedProfiles
    .map((profile) => ({ profile, mib: usableMiB(profile, mig.products) ?? 0 }))
    .sort((a, b) => a.mib - b.mib || a.profile.localeCompare(b.profile));
  const fitting = bySize.find(({ mib }) => BigInt(mib) * MIB_IN_NANO >= quantity.nano);
  if (fitting) return { profile: fitting.profile };
  const sizes = bySize.map(({ profile, mib }) => `${profile} gives ${mib}Mi`).join(', ');
  const message = `is ${shown(text)}, more than any profile allowed here can give`;
  return { problem: annotation(pod, 'GPU111', 'error', MIN_MEMORY, text, message, `Ask for less: ${sizes}.`) };
}

export function allowedHere(mig: MigPolicy): string {
  return `Allowed here: ${mig.allowedProfiles.join(', ')}.`;
}

function withoutEffect(pod: PodView, name: string, value: string): Finding {
  const message = 'has no effect: GPUs of this namespace are not split by MIG';
  return annotation(pod, 'GPU101', 'warning', name, value, message, 'Remove the annotation.');
}

const KNOWN = [WISH, MIN_MEMORY, CAP_WISH, POLICY, ORIGINAL];

/** Annotations of a pod under `gpugate.dev/` that mean nothing: most likely misspelt. */
export function unknownAnnotations(pod: PodView, tell: Tell): void {
  for (const [name, value] of pod.annotations) {
    if (!name.startsWith('gpugate.dev/') || KNOWN.includes(name)) continue;
    const message = 'is not one that gpugate reads';
    tell(annotation(pod, 'GPU101', 'warning', name, value, message, `Known are ${KNOWN.slice(0, 3).join(', ')}.`));
  }
}

/** A finding about one of the wishes that a pod may carry as an annotation. */
export function annotation(
  pod: PodView,
  code: Finding['code'],
  severity: Finding['severity'],
  name: string,
  value: string,
  message: string,
  fix: string,
): Finding {
  return {
    code,
    severity,
    field: fieldPath([...pod.path, 'metadata', 'annotations', name]),
    value: shown(value),
    message: `annotation ${name} ${message}.`,
    fix,
  };
}
