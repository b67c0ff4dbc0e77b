import type { EffectivePolicy, Mode } from '../policy/policy.ts';
import type { Change, Finding, Verdict } from './findings.ts';
import { notApplied } from './rules/gpu180-not-applied.ts';

/** Who asks: the mutating webhook, the validating one, or a preview of a template. */
export type Phase = 'mutate' | 'validate' | 'template';

/** What a verdict leads to in one phase. */
export interface Decision {
  readonly allowed: boolean;
  /** The findings that refuse it. */
  readonly denials: readonly Finding[];
  /** Findings to warn of: warnings, and errors that the mode does not enforce. */
  readonly warnings: readonly Finding[];
  /** Changes to make now. */
  readonly changes: readonly Change[];
  /** Changes that are announced and not made, because of the mode or because a template is only previewed. */
  readonly announced: readonly Change[];
  /** All findings, GPU180 included, for records. */
  readonly findings: readonly Finding[];
}

/**
 * Turns a verdict into a decision. `enforce` denies errors and makes changes; `warn` speaks of both; `audit` only records.
 * What the API server refuses anyway is denied in every mode, with a better text. Validation repeats no warning that the
 * mutating call gave (`first` says that there was none, as for ephemeral containers).
 */
export function decide(
  verdict: Verdict,
  policy: EffectivePolicy,
  phase: Phase,
  first = phase !== 'validate',
): Decision {
  const mode = phase === 'template' ? templateMode(policy) : policy.mode;
  const missing = phase === 'validate' && mode === 'enforce' ? [...notApplied.check(verdict)] : [];
  const findings = [...verdict.findings, ...missing];
  const errors = findings.filter((finding) => finding.severity === 'error');
  const refused =
    phase === 'template' && mode !== 'enforce'
      ? []
      : errors.filter((finding) => mode === 'enforce' || finding.refusedAnyway);
  const spoken = mode !== 'audit' && first;
  const unenforced = errors.filter((error) => !refused.includes(error));
  return {
    allowed: refused.length === 0,
    denials: refused,
    warnings: spoken ? [...unenforced, ...findings.filter((finding) => finding.severity === 'warning')] : [],
    changes: phase === 'mutate' && mode === 'enforce' && refused.length === 0 ? verdict.changes : [],
    announced: spoken && refused.length === 0 && (mode === 'warn' || phase === 'template') ? verdict.changes : [],
    findings,
  };
}

/** A template only fails where the policy says so; its pods are judged by the namespace's mode when they are made. */
function templateMode({ mode, templates }: EffectivePolicy): Mode {
  if (mode === 'audit' || templates === 'off') return 'audit';
  return mode === 'enforce' && templates === 'deny' ? 'enforce' : 'warn';
}
