import type { Rule } from '../context.ts';
import { renames } from '../rename.ts';

/** GPU121: `nvidia.com/gpu` becomes `nvidia.com/gpu.shared` where the namespace's nodes offer shares under that name. */
export const renameToShared: Rule = {
  needs: 'policy',
  *check(context) {
    if (context.policy.shared) yield* renames(context, 'GPU121');
  },
};
