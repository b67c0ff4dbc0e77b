import type { Rule } from '../context.ts';
import { quoted, shown } from '../shown.ts';
import { eachValue, found, resourceField } from './each.ts';

/**
 * GPU001: a value that no Kubernetes quantity has. The API server refuses it while decoding typed objects; in custom
 * resources and files it would fail only when a pod is made.
 */
export const notAQuantity: Rule = {
  needs: 'odd-counts',
  check(context, tell) {
    for (const { container, ask, list, asked } of eachValue(context)) {
      if (asked.quantity) continue;
      tell(
        found('GPU001', 'error', container, {
          field: resourceField(container, list, ask.resource.name),
          value: shown(asked.raw),
          message: `${ask.resource.name} in ${list} is ${quoted(asked.raw)}, which is not a number.`,
          fix: 'Write a whole number such as 1.',
          refusedAnyway: true,
        }),
      );
    }
  },
};
