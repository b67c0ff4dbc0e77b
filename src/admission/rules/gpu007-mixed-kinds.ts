import type { Rule } from '../context.ts';
import { asArray, asObject, fieldPath, unitsAsked } from '../pod.ts';
import { droppedBesideRename } from '../rename.ts';
import { found } from './each.ts';

/**
 * GPU007: one container with two kinds of GPU, such as a whole one and a MIG slice. A process sees one kind, so the other
 * lies idle; under most device plugins the second also hides the first. A DRA claim beside a GPU is only warned of: what it
 * claims does not stand in the pod, and may be a network device.
 */
export const mixedKinds: Rule = {
  needs: 'arithmetic',
  check(context, tell) {
    for (const container of context.containers) {
      const kinds = container.gpus.filter(
        (ask) => unitsAsked(ask) !== 0n && !droppedBesideRename(context, container, ask),
      );
      const names = kinds.map((ask) => ask.resource.name).sort();
      if (names.length > 0 && asArray(asObject(container.spec.resources)?.claims).length > 0) {
        tell(
          found('GPU007', 'warning', container, {
            field: fieldPath([...container.path, 'resources', 'claims']),
            message: `takes a resource claim beside ${names.join(' and ')}; if the claim is for a GPU too, the container gets both.`,
            fix: 'Keep one of them, unless the claim is for something else.',
          }),
        );
      }
      if (names.length < 2) continue;
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
