import { finalResource, type Rule } from '../context.ts';
import { unitsAsked } from '../pod.ts';
import { droppedBesideRename } from '../rename.ts';
import { eachAsk } from './each.ts';

/**
 * GPU006: the request defaulted from the limit. The API server does so for Pods before any webhook sees them
 * (SetDefaults_Pod), not for templates, so this acts on templates, files and raw reviews.
 */
export const defaultRequest: Rule = {
  needs: 'odd-counts',
  check(context, tell) {
    for (const { container, ask } of eachAsk(context)) {
      const resource = ask.resource.name;
      if (!ask.limit || ask.request || unitsAsked(ask) === undefined) continue;
      if (droppedBesideRename(context, container, ask)) continue;
      if (context.policy.governed && finalResource(context, ask) !== resource) continue;
      tell({
        type: 'set-request',
        code: 'GPU006',
        container,
        resource,
        quantity: String(ask.limit.raw),
        reason: `request of ${resource} set to its limit`,
        required: false,
      });
    }
  },
};
