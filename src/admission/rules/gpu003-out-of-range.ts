import type { Rule } from '../context.ts';
import { isWhole, wholeUnits } from '../quantity.ts';
import { shown } from '../shown.ts';
import { eachAsk, found, resourceField } from './each.ts';

const MOST = 2n ** 31n - 1n;

/**
 * GPU003: a negative count, which the API server refuses, or one beyond any machine, which it lets through: its own
 * arithmetic overflows (2^63 passes the integer test).
 */
export const outOfRange: Rule = {
  needs: 'odd-counts',
  check(context, tell) {
    for (const { container, ask } of eachAsk(context)) {
      const list = ask.limit ? 'limits' : 'requests';
      const quantity = (ask.limit ?? ask.request)?.quantity;
      if (!quantity) continue;
      const negative = quantity.nano < 0n;
      if (!negative && !(isWhole(quantity) && wholeUnits(quantity) > MOST)) continue;
      const value = shown(quantity.text);
      const details = { field: resourceField(container, list, ask.resource.name), value };
      if (negative) {
        tell(
          found('GPU003', 'error', container, {
            ...details,
            message: `${ask.resource.name} is ${value}; a count can't be negative.`,
            fix: 'Ask for 1 or more, or remove the line.',
            refusedAnyway: true,
          }),
        );
      } else {
        tell(
          found('GPU003', context.policy.governed ? 'error' : 'warning', container, {
            ...details,
            message: `${ask.resource.name} is ${value}, more GPUs than any machine has.`,
            fix: 'Ask for as many GPUs as a node has; memory is not asked for here, and k, M or Gi multiply the count.',
          }),
        );
      }
    }
  },
};
