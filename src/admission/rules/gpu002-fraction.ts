import { oneUnit } from '../advice.ts';
import type { Context, Rule } from '../context.ts';
import type { ContainerView, GpuAsk } from '../pod.ts';
import { decimal, isWhole, type Quantity, roundedToMilli } from '../quantity.ts';
import { shown } from '../shown.ts';
import { eachAsk, found, resourceField } from './each.ts';

/**
 * GPU002: a part of a GPU. Extended resources are counted in whole units (validation.go ValidateResourceQuantityValue:
 * "must be an integer"), and no device plugin hands out less than one.
 */
export const fraction: Rule = {
  needs: 'odd-counts',
  check(context, tell) {
    const advice = new Map<string, string>();
    for (const { container, ask } of eachAsk(context)) {
      const list = fractional(ask.limit?.quantity)
        ? 'limits'
        : fractional(ask.request?.quantity)
          ? 'requests'
          : undefined;
      const quantity = list === 'limits' ? ask.limit?.quantity : ask.request?.quantity;
      if (!list || !quantity) continue;
      const value = spelling(context, container, ask, list, quantity);
      const whole = quantity.nano < 0n ? 1n : (roundedToMilli(quantity) + 999n) / 1000n;
      const { name } = ask.resource;
      // Said once for each name: it looks at every node.
      const unit = advice.get(name) ?? oneUnit(context, ask);
      advice.set(name, unit);
      tell(
        found('GPU002', 'error', container, {
          field: resourceField(container, list, name),
          value,
          message: `${name} is ${value}; GPUs are counted in whole devices.`,
          fix: `Ask for ${whole}${unit}.`,
          refusedAnyway: true,
        }),
      );
    }
  },
};

function fractional(quantity: Quantity | undefined): boolean {
  return quantity !== undefined && !isWhole(quantity);
}

/** As the user typed it, else as decoded with the plain number beside it: `500m (0.5)`. */
function spelling(
  context: Context,
  container: ContainerView,
  ask: GpuAsk,
  list: 'limits' | 'requests',
  quantity: Quantity,
): string {
  const typed = context.typed()(container.name, list, ask.resource.name, quantity.text);
  if (typed !== undefined) return typed;
  const plain = decimal(quantity);
  return plain === quantity.text ? shown(plain) : `${shown(quantity.text)} (${shown(plain)})`;
}
