import { type Facts, hasNoNode, kubectl } from './facts.ts';
import type { Reason, Seen } from './result.ts';

/** What containerd and CRI-O say of a handler that they don't know. */
export const NO_HANDLER = /no runtime for "?[^"]*"? is configured|RuntimeHandler .* not supported|unknown runtime/i;

/** Layer 5: the RuntimeClass that the pod names, and what the node says of its handler. */
export function runtimeClass(facts: Facts): Seen {
  const { view, runtimeClasses, state, events, subject, namespace } = facts;
  const { runtimeClassName: name } = view.spec;
  const reasons: Reason[] = [];
  if (state === 'starting') {
    const event = events.findLast(({ message }) => NO_HANDLER.test(message));
    if (event) {
      const text = `the node has no such runtime: ${event.message}`;
      reasons.push({ code: 'runtime-class', text, next: kubectl(`describe ${subject}`, namespace) });
    }
  }
  if (typeof name !== 'string' || name === '') {
    return { seen: ["none is named: the node's default runtime is used"], reasons };
  }
  const next = 'kubectl get runtimeclasses';
  if (runtimeClasses === undefined) {
    return { seen: [`${name}; RuntimeClasses may not be listed by you`], reasons, unknown: true, next };
  }
  if (runtimeClasses.has(name)) return { seen: [`${name} exists`], reasons, next };
  if (state === 'waiting' || state === 'starting' || state === 'gated') {
    const text = `the RuntimeClass ${name} does not exist, so the pod can't start on any node`;
    return { seen: [text], reasons: [...reasons, { code: 'runtime-class', text, next }], next };
  }
  const gone = hasNoNode(facts) ? 'does not exist' : 'does not exist any more';
  return { seen: [`${name} ${gone}`], reasons, problem: hasNoNode(facts), unknown: true, next };
}
