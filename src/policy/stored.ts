import { fieldOf, type Mistake } from './mistakes.ts';
import { parse } from './parse.ts';
import type { Mode, PolicyProblem } from './policy.ts';
import { type GpuPolicy, gpuPolicySchema, MODES } from './schema.ts';

/** A GpuPolicy that stands in the cluster and is not understood: written past the check, or by a newer gpugate. */
export interface BrokenPolicy {
  readonly metadata: { readonly name: string };
  /** What it says of the mode, where that alone is understood: in `warn` and `audit` nothing is refused. */
  readonly mode?: Mode;
  readonly problems: readonly FieldProblem[];
}

export interface FieldProblem {
  readonly code: PolicyProblem['code'];
  /** `spec.mig.profile` */
  readonly field: string;
  /** The end of a sentence that begins with the field. */
  readonly message: string;
  /** A sentence; may be empty. */
  readonly fix: string;
}

export type ReadPolicy =
  | { readonly ok: true; readonly policy: GpuPolicy }
  | { readonly ok: false; readonly problems: readonly FieldProblem[] };

export function isBroken(policy: GpuPolicy | BrokenPolicy): policy is BrokenPolicy {
  return 'problems' in policy;
}

/** Reads one GpuPolicy document; of one that is not understood, every mistake with its field. */
export function readPolicy(document: unknown): ReadPolicy {
  const read = parse(gpuPolicySchema, document);
  if (read.success) return { ok: true, policy: read.data };
  const problems = read.mistakes.map((mistake) => ({
    code: codeOf(mistake),
    field: fieldOf(mistake.path),
    message: mistake.message,
    fix: mistake.fix,
  }));
  return { ok: false, problems };
}

/** Reads what the API server holds. Never throws: what is not understood is carried as such. */
export function readStored(object: { readonly metadata?: { readonly name?: string } }): GpuPolicy | BrokenPolicy {
  const { apiVersion, kind, metadata, spec } = object as Partial<GpuPolicy>;
  const name = String(metadata?.name);
  const read = readPolicy({ apiVersion, kind, metadata: { name }, spec });
  if (read.ok) return read.policy;
  const mode = MODES.find((known) => known === (spec as { mode?: unknown } | null | undefined)?.mode);
  return { metadata: { name }, ...(mode ? { mode } : {}), problems: read.problems };
}

/** Policies that the API server holds, by name. */
export function storedPolicies(
  objects: readonly { readonly metadata?: { readonly name?: string } }[],
): ReadonlyMap<string, GpuPolicy | BrokenPolicy> {
  return new Map(objects.map(readStored).map((policy) => [policy.metadata.name, policy]));
}

function codeOf({ params }: Mistake): PolicyProblem['code'] {
  return params?.code === 'GPU113' ? 'GPU113' : 'GPU101';
}
