import { finalResource, type Rule } from '../context.ts';
import { fieldPath, unitsAsked } from '../pod.ts';

/** GPU122: several containers of one pod each take a unit of a shared GPU: possibly the same GPU, while autoscalers count two. */
export const sharedByContainers: Rule = {
  needs: 'shared',
  check(context, tell) {
    const { shared } = context.policy;
    if (!shared) return;
    const sharers = context.containers.filter(
      (container) =>
        (container.role === 'app' || container.role === 'sidecar') &&
        container.gpus.some((ask) => unitsAsked(ask) && finalResource(context, ask) === shared.resource),
    );
    if (sharers.length < 2) return;
    tell({
      code: 'GPU122',
      severity: 'note',
      field: fieldPath([...context.pod.path, 'spec', 'containers']),
      value: String(sharers.length),
      message: `${sharers.length} containers of the pod (${sharers.map(({ name }) => name).join(', ')}) each take a unit of ${shared.resource}; it may be the same GPU, and an autoscaler counts ${sharers.length}.`,
      fix: 'Give the GPU to one container if one is enough.',
    });
  },
};
