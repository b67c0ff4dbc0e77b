import { CAP_SWITCHES, capVariables } from '../../policy/cap-variables.ts';
import type { Rule } from '../context.ts';
import { envEntry, fieldPath } from '../pod.ts';
import { shown } from '../shown.ts';
import { found } from './each.ts';

/** GPU145: a variable that switches the memory cap off, such as CUDA_DISABLE_CONTROL for HAMi-core. */
export const capSwitchedOff: Rule = {
  needs: 'cap',
  check(context, tell) {
    const { memoryCap, sharing } = context.policy;
    if (!memoryCap || memoryCap.amount.kind === 'off') return;
    const sets = new Set(capVariables(memoryCap.frameworks, sharing === 'mps').map((variable) => variable.set));
    for (const container of context.capped()) {
      for (const { name, set, harmless, why } of CAP_SWITCHES) {
        const entry = envEntry(container, name);
        if (!entry || (set && !sets.has(set)) || (entry.value !== undefined && harmless.test(entry.value))) continue;
        const value = entry.value === undefined ? 'taken from elsewhere' : shown(entry.value);
        tell(
          found('GPU145', 'error', container, {
            field: fieldPath([...container.path, 'env', entry.index]),
            value,
            message: `${name} is ${value}: ${why}, and the policy caps memory here.`,
            fix: 'Remove the variable.',
          }),
        );
      }
    }
  },
};
