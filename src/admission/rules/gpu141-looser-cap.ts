import { capSteps } from '../cap-plan.ts';
import type { Rule } from '../context.ts';
import { shown } from '../shown.ts';

/** GPU141: a cap variable that is looser than the policy, or that its program can't read, is replaced; a stricter one stays. */
export const looserCap: Rule = {
  needs: 'cap',
  check(context, tell) {
    for (const { container, name, value, replaces, required } of capSteps(context)) {
      if (!replaces) continue;
      const was = replaces.value === undefined ? 'a value from elsewhere' : shown(replaces.value);
      tell({ type: 'set-env', code: 'GPU141', container, name, value, reason: `${name} ${was} -> ${value}`, required });
    }
  },
};
