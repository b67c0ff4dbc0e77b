import type { Decision } from '../admission/decide.ts';
import type { Change, Code, Finding } from '../admission/findings.ts';
import type { PatchOperation } from '../admission/patch.ts';
import { asObject } from '../admission/pod.ts';
import type { AdmissionRequest, Answer } from '../admission/review.ts';
import type { Preview } from '../admission/workload.ts';
import type { EffectivePolicy } from '../policy/policy.ts';
import { denialText, findingText, MOST_PROBLEMS, type Subject, warningLine, warningLines } from '../report/denial.ts';

/** One judged request: the answer, and what the records and metrics tell of it. */
export interface Judgement {
  readonly answer: Answer;
  readonly mode: 'enforce' | 'warn' | 'audit' | 'none';
  readonly policy: string;
  readonly findings: readonly Finding[];
  readonly changes: readonly Change[];
  /** What would become of the pods of a workload, or of the object if its mode did more than announce. */
  readonly preview?: (() => Preview) | undefined;
  /** The namespace or its policy could not be read. */
  readonly unread?: boolean;
}

/** Nothing to say. */
export const UNTOUCHED: Judgement = {
  answer: { allowed: true, warnings: [], auditAnnotations: {} },
  mode: 'none',
  policy: '',
  findings: [],
  changes: [],
};

/** What a decision is answered with, and what is recorded of it. */
export function judgementOf(
  decision: Decision,
  policy: EffectivePolicy,
  request: AdmissionRequest,
  patch?: readonly PatchOperation[],
  preview?: () => Preview,
): Judgement {
  const { allowed, denials, findings, changes, announced } = decision;
  const warnings = warningLines(decision);
  const auditAnnotations = auditOf(decision, policy);
  return {
    answer: allowed
      ? { allowed, warnings, patch: patch?.length === 0 ? undefined : patch, auditAnnotations }
      : { allowed, ...denialOf(denials, policy, request), warnings, auditAnnotations },
    mode: policy.governed ? policy.mode : 'none',
    policy: policy.name ?? '',
    findings,
    changes: changes.length > 0 ? changes : announced,
    preview,
  };
}

function denialOf(denials: readonly Finding[], policy: EffectivePolicy, request: AdmissionRequest) {
  const causes = denials.slice(0, MOST_PROBLEMS).map((finding) => ({
    reason: finding.code,
    message: findingText(finding),
    field: finding.field,
  }));
  return { code: 403, reason: 'Forbidden', message: denialText(subjectOf(request), policy, denials), causes };
}

/** One key a code, with a value that is the same in every round: the API server refuses a second, different value. */
function auditOf({ denials, findings, changes, announced }: Decision, policy: EffectivePolicy): Record<string, string> {
  const audit: Record<string, string> = policy.name === undefined ? {} : { policy: policy.name };
  noteCodes(audit, denials, 'denied');
  noteCodes(audit, changes, 'changed');
  noteCodes(audit, announced, 'would change');
  noteCodes(audit, findings, 'found');
  return audit;
}

function noteCodes(audit: Record<string, string>, items: Iterable<{ readonly code: Code }>, what: string): void {
  for (const { code } of items) audit[code] ??= what;
}

function subjectOf({ kind, name, namespace, object }: AdmissionRequest): Subject {
  const { generateName } = asObject(asObject(object)?.metadata) ?? {};
  const named = name || (typeof generateName === 'string' ? generateName : '');
  return { kind: kind.kind === 'Pod' ? 'pod' : kind.kind, name: named, namespace: namespace ?? '' };
}

/** A final pod whose policy can't be read is not let by: the mutating call may have missed it for the same reason. */
export function unread(namespace: string, reason: string): Judgement {
  const message = `gpugate: the GPU policy of namespace ${namespace} can't be read (${reason}); try again`;
  return {
    ...UNTOUCHED,
    unread: true,
    answer: { ...UNTOUCHED.answer, allowed: false, code: 503, reason: 'ServiceUnavailable', message },
  };
}

/** Mutate judges such a pod by arithmetic alone, and says so. */
export function withWarning(judgement: Judgement, namespace: string): Judgement {
  const text = warningLine(`gpugate: the GPU policy of namespace ${namespace} can't be read; none was applied`);
  return {
    ...judgement,
    unread: true,
    answer: { ...judgement.answer, warnings: [...judgement.answer.warnings, text] },
  };
}
