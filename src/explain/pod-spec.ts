import { asArray, asObject } from '../admission/pod.ts';
import { misspeltGpuResource } from '../policy/resources.ts';
import { type Facts, kubectl } from './facts.ts';
import type { Reason, Seen } from './result.ts';
import { scheduledCondition } from './scheduling.ts';

const OWN_SCHEDULER = 'default-scheduler';
const KUEUE = 'kueue.x-k8s.io/';

/** Layer 1: what the pod asks for, and whether any scheduler may and will look at it. */
export function podSpec(facts: Facts): Seen {
  const { view, needs, claimed, state } = facts;
  const waits = state === 'waiting' || state === 'gated' || state === 'refused';
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
  return { seen: [asked(needs, claimed, misspelt.length > 0)], reasons: waits ? reasons : [] };
}

function asked(needs: ReadonlyMap<string, bigint>, claimed: readonly string[], misspelt: boolean): string {
  const parts = [
    ...[...needs].map(([name, units]) => `${units} ${name}`),
    ...claimed.map((name) => `${name}, which a DeviceClass serves`),
  ];
  if (parts.length > 0) return `asks for ${parts.join(', ')}`;
  return misspelt ? 'asks for no GPU under a name that counts as one' : 'asks for no GPU';
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
