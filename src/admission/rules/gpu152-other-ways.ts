import type { Rule } from '../context.ts';
import { severityOfWays } from '../visible-devices.ts';
import { cdiAnnotations } from '../ways/cdi-annotations.ts';
import { deviceVolumes } from '../ways/device-volumes.ts';
import { privileges } from '../ways/privileges.ts';
import { nvidiaClass } from '../ways/runtime-class.ts';

/**
 * GPU152: ways to a GPU past the device plugin that are no variable: CDI annotations, places of the node mounted as volumes,
 * privileges beside a GPU, and the NVIDIA runtime without a request. Each way is a file of ../ways.
 */
export const otherWays: Rule = {
  needs: 'guard',
  check(context, tell) {
    const severity = severityOfWays(context.policy);
    if (severity === undefined) return;
    if (context.whole) {
      cdiAnnotations(context.pod, severity, tell);
      nvidiaClass(context, severity, tell);
    }
    deviceVolumes(context, severity, tell);
    privileges(context, severity, tell);
  },
};
