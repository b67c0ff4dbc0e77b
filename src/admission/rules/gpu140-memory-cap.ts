import { capSteps } from '../cap-plan.ts';
import type { Rule } from '../context.ts';

/** GPU140: memory cap variables added to a container that shares its GPU. They are cooperative: isolation is MIG. */
export const addMemoryCap: Rule = {
  needs: 'cap',
  check(context, tell) {
    for (const { container, name, value, replaces, required } of capSteps(context)) {
      if (replaces) continue;
      tell({ type: 'set-env', code: 'GPU140', container, name, value, reason: describeCap(context.cap()), required });
    }
  },
};

/** `memory cap 3584Mi (auto: ...)`. */
export function describeCap(cap: {
  readonly mib?: number;
  readonly thousandths?: number;
  readonly basis: string;
}): string {
  const amount = cap.mib === undefined ? `${(cap.thousandths ?? 0) / 10}%` : `${cap.mib}Mi`;
  return amount === cap.basis ? `memory cap ${amount}` : `memory cap ${amount} (${cap.basis})`;
}
