import type { Context } from '../context.ts';
import type { Severity, Tell } from '../findings.ts';
import { asArray, asObject, type ContainerView, fieldPath } from '../pod.ts';
import { found } from '../rules/each.ts';
import { shown } from '../shown.ts';
import { opensGpus } from './host-paths.ts';

/** Whoever mounts a host's file here names a GPU by the folder (container toolkit, accept-nvidia-visible-devices-as-volume-mounts). */
export const DEVICE_MOUNTS = 'nvidia-container-devices';

const FIX =
  'Remove it, and ask for a GPU under resources.limits; node agents belong in a namespace with gpugate.dev/visible-devices=ignore.';

interface HostVolume {
  readonly name: string;
  readonly index: number;
  readonly path: string;
}

/**
 * Volumes that open a guarded place of the node, and mounts that name a GPU. A pod can't get new volumes once it runs, so that
 * of an added container its mounts are looked at.
 */
export function deviceVolumes(context: Context, severity: Severity, tell: Tell): void {
  const volumes = hostVolumes(context);
  if (volumes.length === 0) return;
  if (context.whole) {
    for (const { name, index, path } of volumes) {
      const why = opensGpus(path);
      if (why === undefined) continue;
      tell({
        code: 'GPU152',
        severity,
        field: fieldPath([...context.pod.path, 'spec', 'volumes', index, 'hostPath', 'path']),
        value: shown(path),
        message: `volume "${shown(name)}" mounts ${shown(path)} of the node, ${why}.`,
        fix: FIX,
        repeated: true,
      });
    }
  }
  const byName = new Map(volumes.toReversed().map((volume) => [volume.name, volume]));
  for (const container of context.containers) mounts(container, byName, severity, !context.whole, tell);
}

function mounts(
  container: ContainerView,
  volumes: ReadonlyMap<string, HostVolume>,
  severity: Severity,
  judgePaths: boolean,
  tell: Tell,
): void {
  for (const [index, item] of asArray(container.spec.volumeMounts).entries()) {
    const mount = asObject(item);
    const volume = typeof mount?.name === 'string' ? volumes.get(mount.name) : undefined;
    if (!volume) continue;
    const at = typeof mount?.mountPath === 'string' ? mount.mountPath : '';
    const field = fieldPath([...container.path, 'volumeMounts', index]);
    const details = { field, value: shown(at), fix: FIX, repeated: true };
    const why = judgePaths ? opensGpus(volume.path) : undefined;
    if (at.split('/').includes(DEVICE_MOUNTS)) {
      const message = `the mount at ${shown(at)} names a GPU to the runtime, past the device plugin.`;
      tell(found('GPU152', severity, container, { ...details, message }));
    } else if (why !== undefined) {
      const message = `it mounts ${shown(volume.path)} of the node, ${why}.`;
      tell(found('GPU152', severity, container, { ...details, message }));
    }
  }
}

function hostVolumes({ pod }: Context): readonly HostVolume[] {
  return asArray(pod.spec.volumes).flatMap((item, index) => {
    const volume = asObject(item);
    const path = asObject(volume?.hostPath)?.path;
    return typeof path === 'string' && typeof volume?.name === 'string' ? [{ name: volume.name, index, path }] : [];
  });
}
