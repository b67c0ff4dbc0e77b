import { profileProblem } from '../../policy/boards.ts';
import type { Rule } from '../context.ts';
import { unitsAsked } from '../pod.ts';
import { eachAsk, found, resourceField } from './each.ts';

/** GPU113: a MIG resource whose profile no known board has. A warning, since boards newer than the catalogue exist. */
export const unknownProfile: Rule = {
  needs: 'arithmetic',
  check(context, tell) {
    for (const { container, ask } of eachAsk(context)) {
      const { profile, name } = ask.resource;
      const problem = profile === undefined || unitsAsked(ask) === 0n ? undefined : profileProblem(profile);
      if (!problem) continue;
      tell(
        found('GPU113', 'warning', container, {
          field: resourceField(container, 'limits', name),
          value: name,
          message: `asks for ${name}; ${profile === '' ? 'its profile' : profile} ${problem}.`,
          fix: 'Correct the name: the pod stays Pending unless a node offers it.',
        }),
      );
    }
  },
};
