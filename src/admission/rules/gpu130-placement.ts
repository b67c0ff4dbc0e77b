import type { NodeRequirement, Toleration } from '../../policy/policy.ts';
import type { Rule } from '../context.ts';
import { holdsTo, tolerates } from '../placement.ts';
import { fieldPath } from '../pod.ts';

/**
 * GPU130: the pod is placed where the policy wants it: node affinity added by AND to every alternative that the pod has,
 * and tolerations. A pod whose place is decided already is left, with a note.
 */
export const placement: Rule = {
  needs: 'policy',
  check(context, tell) {
    const { requirements, tolerations, left } = context.placement();
    if (left !== undefined) {
      tell({
        code: 'GPU130',
        severity: 'note',
        field: fieldPath([...context.pod.path, 'spec']),
        message: `no node affinity is added: ${left}.`,
        fix: 'See to it that the pod runs on a node that the policy means.',
      });
    }
    for (const requirement of requirements) {
      if (holdsTo(context.pod, requirement)) continue;
      tell({
        type: 'require-node',
        code: 'GPU130',
        requirement,
        reason: `node affinity ${told(requirement)}`,
        required: true,
      });
    }
    for (const toleration of tolerations) {
      if (tolerates(context.pod, toleration)) continue;
      const reason = `toleration of ${tolerationText(toleration)}`;
      tell({ type: 'add-toleration', code: 'GPU130', toleration, reason, required: false });
    }
  },
};

function told({ key, operator, values }: NodeRequirement): string {
  return `${key} ${operator === 'In' ? 'in' : 'not in'} ${values.join(', ')}`;
}

function tolerationText({ key, operator, value, effect }: Toleration): string {
  return `${key}${operator === 'Exists' ? '' : `=${value ?? ''}`}${effect === undefined ? '' : `:${effect}`}`;
}
