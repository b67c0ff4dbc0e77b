import type { Rule } from '../context.ts';
import { roundedToMilli } from '../quantity.ts';
import { shown } from '../shown.ts';
import { eachAsk, found, resourceField } from './each.ts';

/** GPU005: request and limit differ. GPUs can't burst (validation.go: "must be equal to ... limit"). */
export const unequal: Rule = {
  needs: 'odd-counts',
  check(context, tell) {
    for (const { container, ask } of eachAsk(context)) {
      const limit = ask.limit?.quantity;
      const request = ask.request?.quantity;
      if (!limit || !request || limit.nano === request.nano) continue;
      const name = ask.resource.name;
      const typed = context.typed();
      const requested = typed(container.name, 'requests', name, ask.request?.raw) ?? shown(ask.request?.raw);
      const limited = typed(container.name, 'limits', name, ask.limit?.raw) ?? shown(ask.limit?.raw);
      // Values that differ below a milli are equal to the API server, which rounds them first; the fraction is reported.
      if (roundedToMilli(limit) === roundedToMilli(request)) continue;
      tell(
        found('GPU005', 'error', container, {
          field: resourceField(container, 'requests', name),
          value: requested,
          message: `${name} is ${requested} in requests and ${limited} in limits; GPUs can't burst, so both must be equal.`,
          fix: 'Keep the limit that you need and remove the request.',
          refusedAnyway: true,
        }),
      );
    }
  },
};
