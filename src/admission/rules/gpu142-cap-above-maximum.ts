import type { Rule } from '../context.ts';

/** GPU142: the cap that a pod wishes for by annotation is above what the policy allows, or switches the cap off. */
export const capAboveMaximum: Rule = {
  needs: 'cap',
  check(context, tell) {
    for (const each of context.cap().findings.filter((finding) => finding.code === 'GPU142')) tell(each);
  },
};
