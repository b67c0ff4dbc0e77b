import type { Rule } from '../context.ts';
import { shown } from '../shown.ts';
import { eachAsk, found, resourceField } from './each.ts';

/**
 * GPU004: a request without a limit. Extended resources can't be overcommitted, so the API server wants the limit
 * (validation.go: "Limit must be set for non overcommitable resources"); requests default from limits, never the reverse.
 */
export const requestWithoutLimit: Rule = {
  needs: 'odd-counts',
  check(context, tell) {
    for (const { container, ask } of eachAsk(context)) {
      if (!ask.request || ask.limit) continue;
      const name = ask.resource.name;
      const typed = context.typed()(container.name, 'requests', name, ask.request.raw);
      const value = typed ?? shown(ask.request.raw);
      tell(
        found('GPU004', 'error', container, {
          field: resourceField(container, 'requests', name),
          value,
          message: `${name} stands only in requests (${value}); GPUs need a limit, since they can't be overcommitted.`,
          fix: 'Write the number under limits; the request is set from it.',
          refusedAnyway: true,
        }),
      );
    }
  },
};
