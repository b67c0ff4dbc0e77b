import type { Rule } from '../context.ts';
import { asksForGpu, fieldPath } from '../pod.ts';
import { shown } from '../shown.ts';
import { guardedEntries, severityOfWays } from '../visible-devices.ts';
import { found } from './each.ts';

/**
 * GPU151: GPUs asked for by variable instead of by resource. The runtime hands out what NVIDIA_VISIBLE_DEVICES names,
 * whatever the device plugin gave (a pod's env comes after the plugin's, and the last one wins).
 */
export const visibleDevices: Rule = {
  needs: 'guard',
  check({ policy, containers }, tell) {
    const severity = severityOfWays(policy);
    if (severity === undefined) return;
    for (const container of containers) {
      for (const { entry, why } of guardedEntries(container)) {
        tell(
          found('GPU151', severity, container, {
            field: fieldPath([...container.path, 'env', entry.index]),
            ...(entry.value === undefined ? {} : { value: shown(entry.value) }),
            message: `${entry.name} ${why} past the device plugin.`,
            fix: asksForGpu(container)
              ? 'Remove the variable: the device plugin sets it to the GPUs that the container gets.'
              : 'Remove the variable, and ask for a GPU under resources.limits if one is needed.',
          }),
        );
      }
    }
  },
};
