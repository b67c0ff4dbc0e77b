import { WHOLE_GPU } from '../../policy/resources.ts';
import type { Rule } from '../context.ts';
import { finalResource } from '../context.ts';
import { unitsAsked } from '../pod.ts';
import { droppedBesideRename } from '../rename.ts';
import { eachAsk, found, resourceField } from './each.ts';

/** GPU112: several slices for one container. A CUDA process sees one MIG device, so the others would lie idle. */
export const severalSlices: Rule = {
  needs: 'mig',
  check(context, tell) {
    const { mig } = context.policy;
    if (!mig || mig.multiple === 'allow') return;
    for (const { container, ask } of eachAsk(context)) {
      const units = unitsAsked(ask) ?? 0n;
      const resource = finalResource(context, ask);
      const sliced = resource.startsWith('nvidia.com/mig-') || (mig.nodeLabels !== undefined && resource === WHOLE_GPU);
      if (units < 2n || !sliced) continue;
      if (droppedBesideRename(context, container, ask)) continue;
      tell(
        found('GPU112', mig.multiple === 'deny' ? 'error' : 'warning', container, {
          field: resourceField(container, 'limits', ask.resource.name),
          value: String(units),
          message: `would get ${units} slices of ${resource}, and a CUDA process sees only one of them.`,
          fix: `Ask for 1, for a larger profile, or run ${units} pods.`,
        }),
      );
    }
  },
};
