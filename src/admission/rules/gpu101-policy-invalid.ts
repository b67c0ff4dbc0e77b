import type { PolicyProblem } from '../../policy/policy.ts';
import type { Rule } from '../context.ts';
import type { Finding, Severity } from '../findings.ts';
import { asksForGpu } from '../pod.ts';
import { unknownAnnotations } from '../profile.ts';
import { shown } from '../shown.ts';
import { guardedEntries } from '../visible-devices.ts';

/**
 * GPU101: a policy, label or annotation that is not understood is never guessed at: GPU pods of the namespace are refused
 * with its name until it is corrected. Unknown labels are warnings.
 */
export const policyInvalid: Rule = {
  needs: 'namespace',
  check(context, tell) {
    const { policy } = context;
    // A container that names devices by variable wants a GPU too, and the broken label may be the one that forbids it.
    const wantsGpu = context.containers.some((each) => asksForGpu(each) || guardedEntries(each).length > 0);
    if (wantsGpu) {
      for (const problem of policy.problems) tell(aboutPolicy(problem, 'error'));
    }
    // What a pod wishes for means nothing under a policy that is not understood, or that leaves the pod alone.
    if (wantsGpu && policy.problems.length === 0 && context.leftTo === undefined) {
      const { problem } = context.profile();
      if (problem?.code === 'GPU101') tell(problem);
      unknownAnnotations(context.pod, tell);
      for (const each of context.cap().findings.filter((finding) => finding.code === 'GPU101')) tell(each);
    }
    for (const problem of policy.warnings) tell(aboutPolicy(problem, 'warning'));
  },
};

function aboutPolicy(problem: PolicyProblem, severity: Severity): Finding {
  const value = problem.value === undefined ? {} : { value: problem.value };
  const saying = problem.value === undefined ? problem.where : `${problem.where} is "${shown(problem.value)}", which`;
  return {
    code: problem.code,
    severity,
    field: 'metadata.namespace',
    ...value,
    message: `${saying} ${problem.message}.`,
    fix: problem.fix,
  };
}
