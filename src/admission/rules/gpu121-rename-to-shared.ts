import type { Rule } from '../context.ts';
import { renames } from '../rename.ts';

/** GPU121: `nvidia.com/gpu` becomes the name under which the namespace's nodes offer a share: `nvidia.com/gpu.shared`, or that of a slice. */
export const renameToShared: Rule = {
  needs: 'shared',
  check(context, tell) {
    if (context.policy.shared) renames(context, 'GPU121', tell);
  },
};
