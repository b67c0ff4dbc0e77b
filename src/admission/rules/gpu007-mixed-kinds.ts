import type { Rule } from '../context.ts';
import { fieldPath, unitsAsked } from '../pod.ts';
import { droppedBesideRename } from '../rename.ts';
import { found } from './each.ts';

/**
 * GPU007: one container with two kinds of GPU, such as a whole one and a MIG slice. A process sees one kind, so the other
 * lies idle; under most device plugins the second also hides the first.
 */
export const mixedKinds: Rule = {
  needs: 'arithmetic',
  check(context, tell) {
    for (const container of context.containers) {
      const kinds = container.gpus.filter(
        (ask) => unitsAsked(ask) !== 0n && !droppedBesideRename(context, container, ask),
      );
      if (kinds.length < 2) continue;
      const names = kinds.map((ask) => ask.resource.name).sort();
      tell(
        found('GPU007', context.policy.governed ? 'error' : 'warning', container, {
          field: fieldPath([...container.path, 'resources', 'limits']),
          value: names.join(', '),
          message: `asks for ${names.join(' and ')} at once; a container gets GPUs of one kind only.`,
          fix: 'Keep one of them (a LimitRange of the namespace may have added the other).',
        }),
      );
    }
  },
};
