import { CDI_ANNOTATION } from '../admission/ways/cdi-annotations.ts';
import { DEVICE_MOUNTS } from '../admission/ways/device-volumes.ts';
import { guardedPathPattern } from '../admission/ways/host-paths.ts';
import type { MatchCondition } from './conditions.ts';

/** Conditions of the entries that look at ways round the device plugin, in CEL as those of `conditions.ts`. */

const CONTAINERS = ['containers', 'initContainers', 'ephemeralContainers']
  .map((list) => `(has(object.spec.${list}) ? object.spec.${list} : [])`)
  .join(' + ');

/** A Pod that mounts a place of its node where GPUs are, or any place of it as the name of a GPU. */
export const MOUNTS_DEVICES: MatchCondition = {
  name: 'mounts-devices',
  expression: `has(object.spec) && has(object.spec.volumes) && object.spec.volumes.exists(v,
  has(v.hostPath) && has(v.hostPath.path) && (v.hostPath.path.matches(${JSON.stringify(guardedPathPattern())})
    || (${CONTAINERS}).exists(c, has(c.volumeMounts) && c.volumeMounts.exists(m,
      has(m.mountPath) && m.mountPath.contains('${DEVICE_MOUNTS}')))))`,
};

/** A Pod that gets a CDI annotation after it was made, or another value for one: a gated pod has not started yet. */
export const GETS_CDI_DEVICES: MatchCondition = {
  name: 'gets-cdi-devices',
  expression: `has(object.metadata.annotations) && object.metadata.annotations.exists(a, a.startsWith('${CDI_ANNOTATION}')
  && !(has(oldObject.metadata.annotations) && a in oldObject.metadata.annotations
    && oldObject.metadata.annotations[a] == object.metadata.annotations[a]))`,
};
