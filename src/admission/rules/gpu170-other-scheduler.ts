import type { Rule } from '../context.ts';
import { fieldPath } from '../pod.ts';

/** GPU170: the policy leaves pods of this scheduler alone, since it shares GPUs in its own way. Arithmetic is still judged. */
export const otherScheduler: Rule = {
  needs: 'namespace',
  check({ leftTo, pod }, tell) {
    if (leftTo === undefined) return;
    tell({
      code: 'GPU170',
      severity: 'note',
      field: fieldPath([...pod.path, 'spec', 'schedulerName']),
      value: leftTo,
      message: `the pod is left to the scheduler ${leftTo}, as the policy says.`,
      fix: 'Nothing to do.',
    });
  },
};
