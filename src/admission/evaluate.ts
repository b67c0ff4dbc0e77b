import type { EffectivePolicy } from '../policy/policy.ts';
import { type Context, contextOf, type PodRequest, type Rule } from './context.ts';
import { collect, type Verdict } from './findings.ts';
import { recordOf } from './record.ts';
import { notAQuantity } from './rules/gpu001-not-a-quantity.ts';
import { fraction } from './rules/gpu002-fraction.ts';
import { outOfRange } from './rules/gpu003-out-of-range.ts';
import { requestWithoutLimit } from './rules/gpu004-request-without-limit.ts';
import { unequal } from './rules/gpu005-unequal.ts';
import { defaultRequest } from './rules/gpu006-default-request.ts';
import { mixedKinds } from './rules/gpu007-mixed-kinds.ts';
import { unknownName } from './rules/gpu008-unknown-name.ts';
import { zero } from './rules/gpu009-zero.ts';
import { policyInvalid } from './rules/gpu101-policy-invalid.ts';
import { tooMany } from './rules/gpu102-too-many.ts';
import { renameToMig } from './rules/gpu110-rename-to-mig.ts';
import { profileNotAllowed } from './rules/gpu111-profile-not-allowed.ts';
import { severalSlices } from './rules/gpu112-several-slices.ts';
import { unknownProfile } from './rules/gpu113-unknown-profile.ts';
import { severalSharedUnits } from './rules/gpu120-several-shared-units.ts';
import { renameToShared } from './rules/gpu121-rename-to-shared.ts';
import { sharedByContainers } from './rules/gpu122-shared-by-containers.ts';
import { placement } from './rules/gpu130-placement.ts';
import { runtimeClass } from './rules/gpu131-runtime-class.ts';
import { addMemoryCap } from './rules/gpu140-memory-cap.ts';
import { looserCap } from './rules/gpu141-looser-cap.ts';
import { capAboveMaximum } from './rules/gpu142-cap-above-maximum.ts';
import { capNotComputable } from './rules/gpu143-cap-not-computable.ts';
import { capCannotWork } from './rules/gpu144-cap-cannot-work.ts';
import { capSwitchedOff } from './rules/gpu145-cap-switched-off.ts';
import { setVoid } from './rules/gpu150-void.ts';
import { visibleDevices } from './rules/gpu151-visible-devices.ts';
import { otherWays } from './rules/gpu152-other-ways.ts';
import { noNodeOffers } from './rules/gpu160-no-node-offers.ts';
import { limitsByAnotherName } from './rules/gpu161-limits-by-another-name.ts';
import { gpuNodeWithoutGpu } from './rules/gpu162-gpu-node-without-gpu.ts';
import { otherScheduler } from './rules/gpu170-other-scheduler.ts';
import type { Snapshot } from './snapshot.ts';

/** Every rule, in the order in which its findings are read. */
const RULES: readonly Rule[] = [
  notAQuantity,
  fraction,
  outOfRange,
  requestWithoutLimit,
  unequal,
  defaultRequest,
  mixedKinds,
  unknownName,
  zero,
  policyInvalid,
  otherScheduler,
  tooMany,
  renameToMig,
  profileNotAllowed,
  severalSlices,
  unknownProfile,
  severalSharedUnits,
  renameToShared,
  sharedByContainers,
  placement,
  runtimeClass,
  addMemoryCap,
  looserCap,
  capAboveMaximum,
  capNotComputable,
  capCannotWork,
  capSwitchedOff,
  setVoid,
  visibleDevices,
  otherWays,
  noNodeOffers,
  limitsByAnotherName,
  gpuNodeWithoutGpu,
];

/**
 * Judges one pod, or one pod template, by the policy of its namespace and what is known of the cluster. Pure: no I/O, no
 * clock, nothing of the request is changed, and it throws on no input. What a verdict leads to is `decide`'s matter.
 */
export function evaluate(request: PodRequest, policy: EffectivePolicy, snapshot: Snapshot): Verdict {
  const context = contextOf(request, policy, snapshot);
  const { verdict, tell } = collect();
  for (const rule of RULES) {
    if (applies(rule, context)) rule.check(context, tell);
  }
  for (const change of recordOf(context, verdict.changes)) tell(change);
  return verdict;
}

function applies({ needs }: Rule, { policy, leftTo, plainCounts }: Context): boolean {
  switch (needs) {
    case 'arithmetic':
      return true;
    case 'odd-counts':
      return !plainCounts;
    case 'namespace':
      return policy.governed || policy.warnings.length > 0;
    case 'guard':
      return policy.governed && leftTo === undefined && policy.visibleDevices !== 'ignore';
  }
  if (!policy.governed || leftTo !== undefined || policy.problems.length > 0) return false;
  return needs === 'policy' || isAbout(policy, needs);
}

function isAbout({ mig, shared, memoryCap }: EffectivePolicy, matter: 'mig' | 'shared' | 'cap'): boolean {
  if (matter === 'cap') return memoryCap !== undefined;
  return (matter === 'mig' ? mig : shared) !== undefined;
}
