import type { Rule } from '../context.ts';
import { renames } from '../rename.ts';

/**
 * GPU110: a whole GPU becomes the MIG profile of the namespace. Where a LimitRange brings the old name back in the API
 * server's second round, it is dropped: the two are never added up.
 */
export const renameToMig: Rule = {
  needs: 'mig',
  check(context, tell) {
    if (context.policy.sharing === 'mig') renames(context, 'GPU110', tell);
  },
};
