import type { Rule } from '../context.ts';
import { fieldPath } from '../pod.ts';
import { asksForNvidia, runtimeClassOf } from '../ways/runtime-class.ts';

/**
 * GPU131: a GPU pod that names no RuntimeClass gets the policy's, where it has one. A class that the user chose stays: gVisor
 * has its own way to a GPU. One that the cluster lacks is not set, since the API server refuses pods that name it
 * (plugin/pkg/admission/runtimeclass).
 */
export const runtimeClass: Rule = {
  needs: 'policy',
  check({ pod, policy, snapshot, whole }, tell) {
    const { runtimeClassName } = policy;
    if (runtimeClassName === undefined || !whole || !asksForNvidia(pod) || runtimeClassOf(pod) !== undefined) return;
    if (snapshot.runtimeClasses?.has(runtimeClassName) === false) {
      tell({
        code: 'GPU131',
        severity: 'warning',
        field: fieldPath([...pod.path, 'spec', 'runtimeClassName']),
        value: runtimeClassName,
        message: `the policy wants the runtime class ${runtimeClassName}, which the cluster does not have, so none is set.`,
        fix: 'Create the RuntimeClass, or correct runtimeClassName in the policy.',
      });
      return;
    }
    tell({
      type: 'set-runtime-class',
      code: 'GPU131',
      name: runtimeClassName,
      reason: `runtimeClassName ${runtimeClassName}`,
      required: false,
    });
  },
};
