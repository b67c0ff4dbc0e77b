import type { EffectivePolicy } from '../../policy/policy.ts';
import { collect, type Verdict } from '../findings.ts';
import { viewPod } from '../pod.ts';
import { severityOfWays } from '../visible-devices.ts';
import { cdiAnnotations } from './cdi-annotations.ts';

/**
 * Judges the UPDATE of a Pod, by the CDI annotations that it adds or changes and by nothing else: a gated pod, or one that
 * waits for its node, gets their devices as one that was made with them (GPU152).
 */
export function annotationsAdded(object: unknown, before: unknown, policy: EffectivePolicy): Verdict {
  const severity = policy.governed ? severityOfWays(policy) : undefined;
  if (severity === undefined) return { findings: [], changes: [] };
  const { annotations } = viewPod(before, [], []);
  const { verdict, tell } = collect();
  cdiAnnotations(viewPod(object, [], []), severity, tell, annotations);
  return verdict;
}
