import type { Rule } from '../context.ts';
import { unitsAsked } from '../pod.ts';
import { eachAsk, found, resourceField } from './each.ts';

/** GPU009: zero GPUs. Legal, and asks for none: it is not renamed, gets no cap, and counts as a container without a GPU. */
export const zero: Rule = {
  needs: 'odd-counts',
  check(context, tell) {
    for (const { container, ask } of eachAsk(context)) {
      if (unitsAsked(ask) !== 0n) continue;
      tell(
        found('GPU009', 'note', container, {
          field: resourceField(container, 'limits', ask.resource.name),
          value: '0',
          message: `${ask.resource.name} is 0, which asks for no GPU.`,
          fix: 'Remove the line, or ask for 1.',
        }),
      );
    }
  },
};
