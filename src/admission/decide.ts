import type { EffectivePolicy, Mode } from '../policy/policy.ts';
import type { Change, Finding, Verdict } from './findings.ts';
import { notApplied } from './rules/gpu180-not-applied.ts';

/**
 * Who asks: the mutating webhook or the validating one, about a pod; a preview of a template, which the validating webhook
 * gives; or the mutating webhook about a template, which speaks only of what it refuses or changes.
 */
export type Phase = 'mutate' | 'validate' | 'template' | 'template-mutate';

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
  if (phase === 'template-mutate') return decideTemplateMutate(verdict, policy);
  const mode = phase === 'template' ? templateMode(policy) : policy.mode;
  const missing = phase === 'validate' && mode === 'enforce' ? [...notApplied.check(verdict)] : [];
  const findings = [...verdict.findings, ...missing];
  const errors = findings.filter((finding) => finding.severity === 'error');
  const refused =
    phase === 'template' && mode !== 'enforce'
      ? []
      : errors.filter((finding) => mode === 'enforce' || finding.refusedAnyway);
  const spoken = mode !== 'audit' && first;
  const told = (finding: Finding) => spoken || (mode !== 'audit' && finding.repeated === true);
  const unenforced = errors.filter((error) => !refused.includes(error));
  return {
    allowed: refused.length === 0,
    denials: refused,
    warnings: [...unenforced, ...findings.filter((finding) => finding.severity === 'warning')].filter(told),
    changes: phase === 'mutate' && mode === 'enforce' && refused.length === 0 ? verdict.changes : [],
    announced: spoken && refused.length === 0 && (mode === 'warn' || phase === 'template') ? verdict.changes : [],
    findings,
  };
}

/** A template only fails where the policy says so; its pods are judged by the namespace's mode when they are made. */
function templateMode({ mode, templates }: EffectivePolicy): Mode {
  if (mode === 'audit' || templates === 'off') return 'audit';
  return mode === 'enforce' && (templates === 'deny' || templates === 'mutate') ? 'enforce' : 'warn';
}

/**
 * The API server validates a template before it asks a validating webhook, so that only here its arithmetic can be refused with
 * a better text; with it go all problems that the preview would refuse. The preview speaks of everything else.
 */
function decideTemplateMutate(verdict: Verdict, policy: EffectivePolicy): Decision {
  const mode = templateMode(policy);
  const errors = verdict.findings.filter((finding) => finding.severity === 'error');
  const arithmetic = policy.templates !== 'off';
  const denials = errors.filter((finding) => mode === 'enforce' || (arithmetic && finding.refusedAnyway));
  if (denials.length > 0) {
    const others = verdict.findings.filter((finding) => !denials.includes(finding) && finding.severity !== 'note');
    const warnings = mode === 'audit' ? [] : others;
    return { allowed: false, denials, warnings, changes: [], announced: [], findings: verdict.findings };
  }
  const made = policy.templates === 'mutate' && policy.mode === 'enforce' ? verdict.changes : [];
  const findings = made.length > 0 ? verdict.findings : [];
  return { allowed: true, denials: [], warnings: [], changes: made, announced: [], findings };
}
