import { asArray, asObject } from '../admission/pod.ts';
import { type Facts, kubectl } from './facts.ts';
import type { Reason } from './result.ts';

/**
 * Resource claims of the pod that are not there. The scheduler does not even queue such a pod, and says nothing of it
 * (k8s.io/kubernetes pkg/scheduler/framework/plugins/dynamicresources, PreEnqueue).
 */
export function missingClaims(facts: Facts): readonly Reason[] {
  const { view, status, claims, events, namespace, subject } = facts;
  const made = asArray(status.resourceClaimStatuses).map(asObject);
  return asArray(view.spec.resourceClaims).flatMap((item): readonly Reason[] => {
    const { name, resourceClaimName } = asObject(item) ?? {};
    if (typeof resourceClaimName === 'string') {
      if (claims === undefined || claims.has(resourceClaimName)) return [];
      const text = `the resource claim ${resourceClaimName}, which the pod names, does not exist`;
      return [{ code: 'claim', text, next: kubectl('get resourceclaims', namespace) }];
    }
    if (made.some((each) => each?.name === name)) return [];
    const failed = events.findLast(({ reason }) => reason === 'FailedResourceClaimCreation');
    if (!failed) return [];
    const text = `its resource claim ${String(name)} can't be made: ${failed.message}`;
    return [{ code: 'claim', text, next: kubectl(`describe ${subject}`, namespace) }];
  });
}
