import { type Facts, kubectl } from './facts.ts';
import type { Seen } from './result.ts';
import { scheduledCondition } from './scheduling.ts';

/** Events of an autoscaler that say whether a node will come. */
const AUTOSCALER = /^(TriggeredScaleUp|NotTriggerScaleUp|Nominated)$/;

/** What the scheduler itself says, in its own words. The reasons of this layer are put together in scheduling.ts. */
export function scheduler(facts: Facts): Seen {
  const { state, status, view, events, subject, namespace } = facts;
  const next = kubectl(`describe ${subject}`, namespace);
  if (state === 'refused') return { seen: ['there is no pod to schedule'] };
  if (state === 'gated') return { seen: ['has not looked at the pod: it is gated'] };
  if (view.nodeName !== undefined) return { seen: [`has put the pod on ${view.nodeName}`] };
  const condition = scheduledCondition(status);
  const seen = [condition ? String(condition.message ?? condition.reason ?? '') : 'has not looked at the pod yet'];
  if (typeof status.nominatedNodeName === 'string' && status.nominatedNodeName !== '') {
    seen.push(`other pods are preempted for it on ${status.nominatedNodeName}`);
  }
  const scaling = events.findLast(({ reason }) => AUTOSCALER.test(reason));
  if (scaling) seen.push(`${scaling.source || 'autoscaler'}: ${scaling.reason}: ${scaling.message}`);
  return { seen, problem: condition?.status === 'False', unknown: condition === undefined, next };
}
