import { finalResource, type Rule } from '../context.ts';
import { unitsAsked } from '../pod.ts';
import { droppedBesideRename } from '../rename.ts';
import { eachAsk, found, resourceField } from './each.ts';

/**
 * GPU120: more than one unit of a shared GPU. Units are not proportional: two may be the same GPU, and where the plugin
 * refuses them (failRequestsGreaterThanOne) the pod fails on the node, again and again.
 */
export const severalSharedUnits: Rule = {
  needs: 'shared',
  check(context, tell) {
    const { shared, sharing } = context.policy;
    if (!shared || shared.multiple === 'allow') return;
    for (const { container, ask } of eachAsk(context)) {
      const units = unitsAsked(ask) ?? 0n;
      const { kind, vendor, name } = ask.resource;
      const isShared = kind === 'shared' || finalResource(context, ask) === shared.resource;
      if (units < 2n || vendor !== 'nvidia.com' || !isShared) continue;
      if (droppedBesideRename(context, container, ask)) continue;
      tell(
        found('GPU120', shared.multiple === 'deny' ? 'error' : 'warning', container, {
          field: resourceField(container, 'limits', name),
          value: String(units),
          message: `asks for ${units} units of a GPU shared by ${sharing === 'mps' ? 'MPS' : sharing}; they may be the same GPU and bring no more memory or time.`,
          fix: 'Ask for 1.',
        }),
      );
    }
  },
};
