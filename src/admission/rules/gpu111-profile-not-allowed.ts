import type { EffectivePolicy } from '../../policy/policy.ts';
import { type GpuResource, WHOLE_GPU } from '../../policy/resources.ts';
import type { Context, Rule } from '../context.ts';
import type { ContainerAt } from '../findings.ts';
import { asksForGpu, unitsAsked } from '../pod.ts';
import { allowedHere } from '../profile.ts';
import { eachAsk, found, resourceField } from './each.ts';

/**
 * GPU111: a MIG profile, named as resource or wished for by annotation, that the policy does not allow; and, since sharing is the
 * policy's to choose, a slice where GPUs are not split, and a share of a GPU where they must not be shared.
 */
export const profileNotAllowed: Rule = {
  needs: 'policy',
  check(context, tell) {
    const { mig, sharing } = context.policy;
    const { problem } = context.profile();
    if (problem?.code === 'GPU111' && context.containers.some(asksForGpu)) tell(problem);
    if (!sharing) return;
    for (const { container, ask } of eachAsk(context)) {
      const { profile, name } = ask.resource;
      if (unitsAsked(ask) === 0n) continue;
      const why = misfit(ask.resource, context.policy);
      if (why) {
        tell(
          found('GPU111', 'error', container, {
            field: resourceField(container, 'limits', name),
            value: name,
            message: `asks for ${name}, and ${why}.`,
            fix: renamedBefore(context, container)
              ? 'The policy has changed: try again.'
              : 'Ask for nvidia.com/gpu: the policy makes of it what this namespace has.',
          }),
        );
      }
      if (!mig || profile === undefined || why || mig.allowedProfiles.includes(profile)) continue;
      tell(
        found('GPU111', 'error', container, {
          field: resourceField(container, 'limits', name),
          value: profile,
          message: `asks for ${name}, and the policy does not allow the profile ${profile} here.`,
          // The user never named it: the policy has changed since the mutating call.
          fix: renamedBefore(context, container)
            ? `${allowedHere(mig)} The policy has changed: try again.`
            : allowedHere(mig),
        }),
      );
    }
  },
};

function renamedBefore({ originals }: Context, { name }: ContainerAt): boolean {
  return originals.get(name)?.has(WHOLE_GPU) ?? false;
}

/** Why a resource does not go with the policy's kind of sharing, as the end of a sentence. */
function misfit({ name, kind, vendor }: GpuResource, { sharing, shared }: EffectivePolicy): string | undefined {
  if (vendor !== 'nvidia.com' || name === shared?.resource) return undefined;
  const isShare = name.endsWith('.shared');
  if (sharing === 'mig') return isShare ? 'GPUs of this namespace are split by MIG, not shared' : undefined;
  if (kind === 'mig') return `GPUs of this namespace are not split by MIG (sharing is ${sharing})`;
  return sharing === 'exclusive' && isShare ? 'GPUs of this namespace are not shared' : undefined;
}
