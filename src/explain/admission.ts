import { decide } from '../admission/decide.ts';
import { evaluate } from '../admission/evaluate.ts';
import { oneLine } from '../report/denial.ts';
import { type Facts, kubectl } from './facts.ts';
import { quotaLines, refusalReasons } from './refusals.ts';
import type { Reason, Seen } from './result.ts';

/** Layer 2: the policy of the namespace, what refuses the pods of a workload, and quotas. */
export function admission(facts: Facts): Seen {
  const { policy, namespace, excluded } = facts;
  const next = `gpugate explain namespace ${namespace}`;
  if (policy === undefined) return { seen: ['which policy applies may not be read by you'], unknown: true, next };
  const named = policy.name === undefined ? 'its labels, without a GpuPolicy' : `the policy "${policy.name}"`;
  const about = [policy.mode, policy.sharing].filter((part) => part !== undefined).join(', ');
  const which = excluded
    ? `the webhooks leave namespace ${namespace} out: gpugate judges none of its pods`
    : policy.governed
      ? `namespace ${namespace} has ${named} (${about})`
      : `namespace ${namespace} has no policy`;
  const seen = [which, ...quotaLines(facts)];
  if (facts.quotas === undefined) seen.push('quotas may not be read by you');
  if (facts.state !== 'refused') return { seen, next };
  const reported = refusalReasons(facts);
  if (reported.length > 0) return { seen, reasons: reported, next };
  const reasons = excluded ? [] : wouldRefuse(facts);
  return { seen: [...seen, 'no event says why there is no pod'], reasons, unknown: true, next };
}

/** Without an event: what gpugate itself would say of the pod. */
function wouldRefuse({ pod, namespace, policy, nodes = [], gpuResources, subject }: Facts): readonly Reason[] {
  if (!policy) return [];
  const request = { pod, path: [], kind: 'Pod' };
  const { denials } = decide(evaluate(request, policy, { nodes, gpuResources }), policy, 'mutate');
  return denials.map(({ code, message, fix }) => ({
    code: 'refused-by-gpugate',
    text: oneLine(`gpugate refuses the pod: ${code} ${message} ${fix}`),
    next: kubectl(`describe ${subject}`, namespace),
  }));
}
