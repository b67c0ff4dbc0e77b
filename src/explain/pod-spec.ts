import { asArray, asObject, type PodView } from '../admission/pod.ts';
import { misspeltGpuResource } from '../policy/resources.ts';
import { type Facts, hasNoNode, kubectl, scheduledCondition } from './facts.ts';
import type { Reason, Seen } from './result.ts';

const OWN_SCHEDULER = 'default-scheduler';
const KUEUE = 'kueue.x-k8s.io/';

/** Layer 1: what the pod asks for, and whether any scheduler may and will look at it. */
export function podSpec(facts: Facts): Seen {
  const { view, state } = facts;
  const misspelt = view.containers.flatMap(({ name: container, otherResources }) =>
    otherResources.flatMap((name) => {
      const meant = misspeltGpuResource(name, facts.gpuResources);
      const offered = facts.nodes?.some(({ allocatable }) => Object.hasOwn(allocatable, name));
      return meant && !offered ? [{ container, name, meant }] : [];
    }),
  );
  const reasons: Reason[] = misspelt.map(({ container, name, meant }) => ({
    code: 'misspelt-name',
    text: `container "${container}" asks for ${name}, a name that no device plugin advertises; ${meant} is meant`,
    next: 'gpugate rules explain GPU008',
  }));
  if (state === 'gated') reasons.push(gated(facts));
  if (state === 'waiting') reasons.push(...noScheduler(facts));
  return { seen: [asked(facts, misspelt.length > 0)], reasons: hasNoNode(facts) ? reasons : [] };
}

function asked({ needs, claimed, view, hasClaims }: Facts, misspelt: boolean): string {
  const parts = [
    ...[...needs].map(([name, units]) => `${units} ${name}${initText(view, name, units)}`),
    ...claimed.map((name) => `${name}, which a DeviceClass serves`),
  ];
  if (parts.length > 0) return `asks for ${parts.join(', ')}`;
  if (hasClaims) return 'asks for no GPU by name; its resource claims may bring one';
  return misspelt ? 'asks for no GPU under a name that counts as one' : 'asks for no GPU';
}

/** Init containers may want more than what runs after them; the node must have it all the same. */
function initText({ containers }: PodView, name: string, units: bigint): string {
  const after = containers
    .filter(({ role }) => role === 'app' || role === 'sidecar')
    .reduce((sum, { gpus }) => sum + (gpus.find(({ resource }) => resource.name === name)?.units ?? 0n), 0n);
  return after < units ? ` (while its init containers run, ${after} after them)` : '';
}

function gated({ view, namespace, subject }: Facts): Reason {
  const gates = asArray(view.spec.schedulingGates).map((gate) => String(asObject(gate)?.name));
  const kueue = gates.some((gate) => gate.startsWith(KUEUE));
  return {
    code: 'gated',
    text: `the pod is gated: no scheduler looks at it until ${gates.join(', ')} ${gates.length === 1 ? 'is' : 'are'} removed${kueue ? ', which Kueue does when it has room' : ''}`,
    next: kubectl(
      kueue ? 'get workloads.kueue.x-k8s.io' : `get ${subject} -o jsonpath='{.spec.schedulingGates}'`,
      namespace,
    ),
  };
}

/** The default scheduler answers at once; another one that has said nothing is probably not there. */
function noScheduler({ view, status }: Facts): readonly Reason[] {
  const { schedulerName } = view;
  if (scheduledCondition(status) || schedulerName === '' || schedulerName === OWN_SCHEDULER) return [];
  return [
    {
      code: 'no-scheduler',
      text: `the pod names the scheduler ${schedulerName}, and none of that name has looked at it`,
      next: 'kubectl get pods -A | grep -i scheduler',
    },
  ];
}
