import type { Finding, Verdict } from '../findings.ts';

/**
 * GPU180: the final pod lacks a change that the policy requires: the mutating call was missed, or another webhook undid
 * it. Only validation asks this, and only in enforce mode.
 */
export const notApplied = {
  *check({ changes }: Verdict): Iterable<Finding> {
    const seen = new Set<string>();
    for (const change of changes) {
      if (!change.required) continue;
      const container = 'container' in change ? change.container : undefined;
      const field = container?.field ?? 'spec';
      const key = `${change.code} ${field}`;
      if (seen.has(key)) continue;
      seen.add(key);
      yield {
        code: 'GPU180',
        severity: 'error',
        ...(container ? { container } : {}),
        field,
        message: `a required change is missing (${change.code}: ${change.reason}): the policy changed or the mutating call was missed.`,
        fix: 'Try again; if it stays, another webhook undoes it.',
      };
    }
  },
};
