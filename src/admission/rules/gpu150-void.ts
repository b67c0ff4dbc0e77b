import type { Rule } from '../context.ts';
import { asksForGpu } from '../pod.ts';
import { endsUpVoid, VISIBLE_DEVICES_VARIABLE } from '../visible-devices.ts';

/**
 * GPU150: NVIDIA_VISIBLE_DEVICES=void on a container that asks for no GPU. An image may carry `all`, which a webhook can't
 * see; an explicit value in the pod is the only sure close, and `void` (not `none`) keeps the runtime from touching it.
 * A container with a DRA claim may get its GPU that way and is left alone.
 */
export const setVoid: Rule = {
  needs: 'guard',
  check(context, tell) {
    // A pod without a GPU may come to the validating webhook alone, where the label does not say void.
    const required = context.policy.everyPodComes || context.pod.containers.some(asksForGpu);
    for (const container of context.containers) {
      if (!endsUpVoid(context, container)) continue;
      if (container.env.some((entry) => entry.name === VISIBLE_DEVICES_VARIABLE)) continue;
      tell({
        type: 'set-env',
        code: 'GPU150',
        container,
        name: VISIBLE_DEVICES_VARIABLE,
        value: 'void',
        reason: `${VISIBLE_DEVICES_VARIABLE}=void, since it asks for no GPU`,
        required,
      });
    }
  },
};
