import { admission } from './admission.ts';
import { devicePlugin } from './device-plugin.ts';
import { type Facts, factsOf } from './facts.ts';
import { hardware } from './hardware.ts';
import type { ExplainInput } from './input.ts';
import { nodeLabels } from './node-labels.ts';
import { noteOf } from './note.ts';
import { nodeReasons } from './on-node.ts';
import { podSpec } from './pod-spec.ts';
import { type Explanation, LAYERS, type Layer, type LayerName, REASONS, type Reason, type Seen } from './result.ts';
import { runtimeClass } from './runtime-class.ts';
import { scheduler } from './scheduler.ts';
import { schedulingReasons } from './scheduling.ts';

const LOOK: Readonly<Record<LayerName, (facts: Facts) => Seen>> = {
  'pod spec': podSpec,
  admission,
  'node labels': nodeLabels,
  'device plugin': devicePlugin,
  'runtime class': runtimeClass,
  'driver and hardware': hardware,
  scheduler,
};

/**
 * Why a pod does not run: layer by layer what was seen, and what keeps it. Pure, and careful: a reason is only what keeps this pod
 * now, so that one that runs has none.
 */
export function explain(input: ExplainInput): Explanation {
  const facts = factsOf(input);
  const looked = LAYERS.map((name) => ({ name, ...LOOK[name](facts) }));
  const reasons = [
    ...looked.flatMap(({ reasons: own = [] }) => own),
    ...schedulingReasons(facts),
    ...nodeReasons(facts),
  ];
  const told = withoutEchoes(reasons);
  const layers = looked.map((seen) => layerOf(seen, told));
  const note = noteOf(facts);
  return {
    subject: input.subject,
    namespace: input.namespace,
    state: facts.state,
    ...(facts.view.nodeName === undefined ? {} : { node: facts.view.nodeName }),
    notAboutGpus: told.length > 0 && told.every(({ code }) => !REASONS[code].gpu),
    ...(note === undefined ? {} : { note }),
    byItself: facts.byItself,
    layers,
  };
}

/** No node can ever take a pod that asks by a name that none uses, whatever else the scheduler says of it. */
function withoutEchoes(reasons: readonly Reason[]): readonly Reason[] {
  const misspelt = reasons.filter(({ code }) => code === 'misspelt-name');
  return misspelt.length > 0 ? misspelt : reasons;
}

function layerOf(
  { name, seen, unknown, problem, next }: Seen & { readonly name: LayerName },
  all: readonly Reason[],
): Layer {
  const reasons = all.filter(({ code }) => REASONS[code].layer === name);
  const mark = problem || reasons.length > 0 ? 'problem' : unknown ? 'unknown' : 'ok';
  return { name, mark, seen, reasons, ...(next === undefined ? {} : { next }) };
}

/** Every reason, in the order of the layers. */
export function reasonsOf({ layers }: Pick<Explanation, 'layers'>): readonly Reason[] {
  return layers.flatMap(({ reasons }) => reasons);
}
