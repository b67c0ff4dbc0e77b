import type { Rule } from '../context.ts';

/** GPU143: a cap is wanted and can't be computed: no node tells its memory, shares differ, or a share is too small. */
export const capNotComputable: Rule = {
  needs: 'cap',
  check(context, tell) {
    for (const each of context.cap().findings.filter((finding) => finding.code === 'GPU143')) tell(each);
  },
};
