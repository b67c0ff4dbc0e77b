import type { Change, Finding } from '../admission/findings.ts';
import type { Answer } from '../admission/review.ts';

/** One judged request: the answer, and what the records and metrics tell of it. */
export interface Judgement {
  readonly answer: Answer;
  readonly mode: 'enforce' | 'warn' | 'audit' | 'none';
  readonly policy: string;
  readonly findings: readonly Pick<Finding, 'code' | 'severity'>[];
  readonly changes: readonly Pick<Change, 'code'>[];
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
