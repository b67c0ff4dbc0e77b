import type { PatchOperation } from '../admission/patch.ts';
import { asObject } from '../admission/pod.ts';
import { valueAt } from '../admission/templates.ts';

const REQUESTS = /^(.*\/resources)\/requests(?:\/(.*))?$/;

/**
 * The operations that a file needs so that it comes to what the webhook's patch makes of it. Requests that the file leaves to the
 * API server are left to it again.
 */
export function asWritten(object: unknown, operations: readonly PatchOperation[]): readonly PatchOperation[] {
  const touched = new Set(
    operations.flatMap((operation) => {
      const [, resources = '', name] = REQUESTS.exec(operation.path) ?? [];
      return name !== undefined && hasRequest(object, resources, name) ? [resources] : [];
    }),
  );
  return operations.filter(({ path }) => {
    const resources = REQUESTS.exec(path)?.[1];
    return resources === undefined || touched.has(resources);
  });
}

function hasRequest(object: unknown, resources: string, name: string): boolean {
  const steps = `${resources}/requests`.split('/').slice(1).map(unescaped);
  let here = object;
  for (const step of steps) here = Array.isArray(here) ? here[Number(step)] : valueAt(here, [step]);
  return Object.hasOwn(asObject(here) ?? {}, unescaped(name));
}

function unescaped(part: string): string {
  return part.replaceAll('~1', '/').replaceAll('~0', '~');
}
