import { asObject } from './pod.ts';

/** Where the pod template stands in each built-in kind, by `group/kind`. */
const TEMPLATE_PATHS: Readonly<Record<string, readonly string[]>> = {
  'apps/Deployment': ['spec', 'template'],
  'apps/StatefulSet': ['spec', 'template'],
  'apps/DaemonSet': ['spec', 'template'],
  'apps/ReplicaSet': ['spec', 'template'],
  '/ReplicationController': ['spec', 'template'],
  'batch/Job': ['spec', 'template'],
  'batch/CronJob': ['spec', 'jobTemplate', 'spec', 'template'],
};

/** The path of a kind's pod template; undefined for kinds without one. */
export function templatePath(group: string, kind: string): readonly string[] | undefined {
  const key = `${group}/${kind}`;
  return Object.hasOwn(TEMPLATE_PATHS, key) ? TEMPLATE_PATHS[key] : undefined;
}

/** The template at a path; undefined where the object has none. */
export function templateAt(object: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>((here, part) => asObject(here)?.[part], object);
}

/** True when another object controls this one: its template was judged there. */
export function hasController(object: unknown): boolean {
  const owners = asObject(asObject(object)?.metadata)?.ownerReferences;
  return Array.isArray(owners) && owners.some((owner) => asObject(owner)?.controller === true);
}
