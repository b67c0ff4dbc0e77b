import type { Change, Finding } from '../admission/findings.ts';
import type { Answer } from '../admission/review.ts';
import type { Preview } from '../admission/workload.ts';

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
