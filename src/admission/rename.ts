import { WHOLE_GPU } from '../policy/resources.ts';
import { type Context, finalResource } from './context.ts';
import type { Code, Tell } from './findings.ts';
import { type ContainerView, type GpuAsk, unitsAsked } from './pod.ts';
import { shown } from './shown.ts';

/** The changes that move a container's whole GPUs to the name that the policy wants. */
export function renames(context: Context, code: Code, tell: Tell): void {
  for (const container of context.containers) {
    for (const ask of container.gpus) {
      const from = ask.resource.name;
      if (droppedBesideRename(context, container, ask)) {
        const reason = `${from} dropped: it was renamed before, and came back (a LimitRange does so)`;
        tell({ type: 'drop-resource', code, container, resource: from, reason, required: true });
        continue;
      }
      const to = finalResource(context, ask);
      if (to === from) continue;
      const quantity = String(ask.limit?.raw);
      const reason = `${from} ${shown(quantity)} -> ${to} ${shown(quantity)}`;
      tell({ type: 'rename-resource', code, container, from, to, quantity, reason, required: true });
    }
  }
}

/**
 * True for a whole GPU that stands again beside the resource it was renamed to. Only an annotation tells so, but believing
 * it grants nothing: what is left is the resource that the policy wants.
 */
export function droppedBesideRename(context: Context, container: ContainerView, ask: GpuAsk): boolean {
  if (ask.resource.name !== WHOLE_GPU || !context.originals.get(container.name)?.has(WHOLE_GPU)) return false;
  if (!unitsAsked(ask) || (context.policy.sharing !== 'mig' && !context.policy.shared)) return false;
  const others = container.gpus.filter((other) => other !== ask && unitsAsked(other));
  return others.some((other) => other.resource.vendor === 'nvidia.com' && other.resource.kind !== 'whole');
}
