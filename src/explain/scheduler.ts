import { type Facts, hasEnded, kubectl, scheduledCondition } from './facts.ts';
import type { Seen } from './result.ts';

/** Events of an autoscaler that say whether a node will come. */
const AUTOSCALER = /^(TriggeredScaleUp|NotTriggerScaleUp|Nominated)$/;

/** What the scheduler itself says, in its own words. The reasons of this layer are put together in scheduling.ts. */
export function scheduler(facts: Facts): Seen {
  const { state, status, view, events, subject, namespace } = facts;
  const next = kubectl(`describe ${subject}`, namespace);
  if (state === 'refused' || state === 'idle') return { seen: ['there is no pod to schedule'] };
  if (state === 'gated') return { seen: ['has not looked at the pod: it is gated'], unknown: true };
  const condition = scheduledCondition(status);
  if (view.nodeName !== undefined) {
    const seen = facts.byItself
      ? `has not looked at the pod, which names the node ${view.nodeName} itself`
      : `the pod ${hasEnded(facts) ? 'was' : 'is'} on ${view.nodeName}`;
    return { seen: [seen], unknown: facts.byItself, next };
  }
  const seen = [condition ? String(condition.message ?? condition.reason ?? '') : 'has not looked at the pod yet'];
  if (typeof status.nominatedNodeName === 'string' && status.nominatedNodeName !== '') {
    seen.push(`other pods are preempted for it on ${status.nominatedNodeName}`);
  }
  const scaling = events.findLast(({ reason }) => AUTOSCALER.test(reason));
  if (scaling) seen.push(`${scaling.source || 'autoscaler'}: ${scaling.reason}: ${scaling.message}`);
  return { seen, problem: condition?.status === 'False', unknown: condition === undefined, next };
}
