import type { Rule } from '../context.ts';
import { type ContainerView, fieldPath, unitsAsked } from '../pod.ts';
import { droppedBesideRename } from '../rename.ts';
import { totalsByResource } from '../totals.ts';
import { found } from './each.ts';

/** GPU102: more GPUs than the policy allows, in one container or in the pod (native sidecars run beside the app). */
export const tooMany: Rule = {
  needs: 'policy',
  check(context, tell) {
    const { perContainer, perPod } = context.policy.maxGpus;
    if (perContainer === undefined && perPod === undefined) return;
    const units = (container: ContainerView) =>
      container.gpus
        .filter((ask) => !droppedBesideRename(context, container, ask))
        .reduce((sum, ask) => sum + (unitsAsked(ask) ?? 0n), 0n);

    for (const container of context.containers) {
      const asked = units(container);
      if (perContainer === undefined || asked <= BigInt(perContainer)) continue;
      tell(
        found('GPU102', 'error', container, {
          field: fieldPath([...container.path, 'resources', 'limits']),
          value: String(asked),
          message: `asks for ${asked} GPUs; the policy allows ${perContainer} per container.`,
          fix: `Ask for at most ${perContainer}.`,
        }),
      );
    }

    if (perPod === undefined) return;
    // Init containers hand a resource on to the app, but only under the same name: totals are by name, then added up.
    const total = [...totalsByResource(context).values()].reduce((sum, one) => sum + one, 0n);
    if (total <= BigInt(perPod)) return;
    tell({
      code: 'GPU102',
      severity: 'error',
      field: fieldPath([...context.pod.path, 'spec']),
      value: String(total),
      message: `the pod takes ${total} GPUs in all; the policy allows ${perPod} per pod.`,
      fix: `Ask for at most ${perPod} over all containers that run at the same time.`,
    });
  },
};
