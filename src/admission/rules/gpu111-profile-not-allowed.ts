import type { Rule } from '../context.ts';
import { asksForGpu, unitsAsked } from '../pod.ts';
import { allowedHere } from '../profile.ts';
import { eachAsk, found, resourceField } from './each.ts';

/** GPU111: a MIG profile, named as resource or wished for by annotation, that the policy does not allow. */
export const profileNotAllowed: Rule = {
  needs: 'policy',
  *check(context) {
    const { mig } = context.policy;
    const { problem } = context.profile();
    if (problem?.code === 'GPU111' && context.containers.some(asksForGpu)) yield problem;
    if (!mig) return;
    for (const { container, ask } of eachAsk(context)) {
      const { profile, name } = ask.resource;
      if (profile === undefined || unitsAsked(ask) === 0n || mig.allowedProfiles.includes(profile)) continue;
      yield found('GPU111', 'error', container, {
        field: resourceField(container, 'limits', name),
        value: profile,
        message: `asks for ${name}, and the policy does not allow the profile ${profile} here.`,
        fix: allowedHere(mig),
      });
    }
  },
};
