import { withValue } from '../admission/json.ts';
import { asArray, asObject } from '../admission/pod.ts';
import { quantityFromJson } from '../admission/quantity.ts';
import { valueAt } from '../admission/templates.ts';

type Path = readonly (string | number)[];

/**
 * An object as the API server hands it to a webhook: the requests of its pods are set from their limits before
 * (SetDefaults_Pod, k8s.io/kubernetes pkg/apis/core/v1/defaults.go). `paths` are where its pods stand, `[]` for a Pod.
 */
export function withDefaultRequests(object: unknown, paths: readonly Path[]): unknown {
  let result = object;
  for (const path of paths) {
    for (const list of ['initContainers', 'containers']) {
      for (const [index, container] of asArray(valueAt(result, [...path, 'spec', list])).entries()) {
        const { limits, requests } = asObject(asObject(container)?.resources) ?? {};
        if (!asObject(limits)) continue;
        // Of what is no quantity it makes nothing: it could not even decode the pod.
        const sound = Object.entries(limits as object).filter(([, value]) => quantityFromJson(value) !== undefined);
        const filled = { ...Object.fromEntries(sound), ...asObject(requests) };
        result = withValue(result, [...path, 'spec', list, index, 'resources', 'requests'], filled);
      }
    }
  }
  return result;
}
