import type { Finding, Verdict } from '../findings.ts';

/**
 * GPU180: the final pod lacks a change that the policy requires: the mutating call was missed, or another webhook undid
 * it. Only validation asks this, and only in enforce mode.
 */
export const notApplied = {
  *check({ changes }: Verdict): Iterable<Finding> {
    const seen = new Set<string>();
    for (const change of changes) {
      if (!change.required || change.type === 'set-annotation') continue;
      const key = `${change.code} ${change.container.field}`;
      if (seen.has(key)) continue;
      seen.add(key);
      yield {
        code: 'GPU180',
        severity: 'error',
        container: change.container,
        field: change.container.field,
        message: `a required change is missing (${change.code}: ${change.reason}): the policy changed or the mutating call was missed.`,
        fix: 'Try again; if it stays, another webhook undoes it.',
      };
    }
  },
};
