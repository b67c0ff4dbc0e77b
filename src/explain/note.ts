import { asArray, asObject, type JsonObject } from '../admission/pod.ts';
import { type Facts, scheduledCondition } from './facts.ts';
import { whyDown } from './on-node.ts';

/** What is to be said of the pod as a whole where no reason is told, behind its name. No more is promised than was seen. */
export function noteOf(facts: Facts): string | undefined {
  const { state, view, byItself, idle } = facts;
  switch (state) {
    case 'idle':
      return sentence(String(idle));
    case 'running': {
      const down = whyDown(facts);
      return down && `was running on ${view.nodeName} when that node was last heard of: ${sentence(down)}`;
    }
    case 'starting':
      return byItself
        ? `names node ${view.nodeName} itself, past the scheduler, and waits for its kubelet.`
        : undefined;
    case 'waiting':
      return outlook(facts);
    case 'ending':
    case 'failed': {
      const why = disrupted(facts.status) ?? (state === 'failed' ? failure(facts.status) : undefined);
      return why && `${state === 'failed' ? 'has failed' : 'is being deleted'}: ${sentence(why)}`;
    }
    default:
      return undefined;
  }
}

function outlook({ status, nodes, hasClaims, claimed, needs }: Facts): string {
  if (!scheduledCondition(status)) return 'is Pending: the scheduler has not looked at it yet.';
  if (nodes === undefined) return 'is Pending, and nothing that you may read says why.';
  if (hasClaims || claimed.length > 0) {
    return 'is Pending. Whether its resource claims can be allocated the scheduler alone knows.';
  }
  const what = needs.size > 0 ? 'As the nodes are now its GPUs fit' : 'Nothing that can be seen from here keeps it';
  return `is Pending. ${what}; the scheduler tries again by itself.`;
}

/** An eviction, a preemption, a drain (Pod condition DisruptionTarget). */
function disrupted(status: JsonObject): string | undefined {
  const condition = asArray(status.conditions)
    .map(asObject)
    .find((each) => each?.type === 'DisruptionTarget' && each.status === 'True');
  return condition && told(condition);
}

/** What the kubelet or a controller ended a pod for: Evicted, Terminated, DeadlineExceeded; not `Error` of its own containers. */
function failure(status: JsonObject): string | undefined {
  return typeof status.reason === 'string' && status.reason !== 'Error' ? told(status) : undefined;
}

function told({ reason, message }: JsonObject): string {
  return [reason, message].filter((part) => typeof part === 'string' && part !== '').join(': ');
}

function sentence(text: string): string {
  return `${text.trim().replace(/\.$/, '')}.`;
}
