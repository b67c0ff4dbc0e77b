import { asArray, asObject } from '../admission/pod.ts';

/** Whether a pod has the condition Ready. */
export function isReady(pod: unknown): boolean {
  return asArray(asObject(asObject(pod)?.status)?.conditions)
    .map(asObject)
    .some((condition) => condition?.type === 'Ready' && condition.status === 'True');
}
