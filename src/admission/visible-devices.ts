import type { EffectivePolicy } from '../policy/policy.ts';
import type { Context } from './context.ts';
import type { Severity } from './findings.ts';
import { asksForGpu, type ContainerView, type EnvEntry, envEntry } from './pod.ts';
import { shown } from './shown.ts';

export const VISIBLE_DEVICES_VARIABLE = 'NVIDIA_VISIBLE_DEVICES';

/**
 * Variables by which a container names devices itself (nvidia-container-toolkit internal/config/image/cuda_image.go).
 * DOCKER_RESOURCE_GPU is the toolkit's sample of a swarm-resource name; the MIG ones open all MIG devices to their holder.
 */
export const GUARDED_VARIABLES = [
  VISIBLE_DEVICES_VARIABLE,
  'DOCKER_RESOURCE_GPU',
  'NVIDIA_MIG_CONFIG_DEVICES',
  'NVIDIA_MIG_MONITOR_DEVICES',
] as const;

/** `void` and empty leave a container untouched; `none` gives driver files and no device. */
const HARMLESS = new Set(['', 'void', 'none']);

/** The entries of a container that open devices, each with what it does. A value that can't be seen counts as one that does. */
export function guardedEntries(
  container: ContainerView,
): readonly { readonly entry: EnvEntry; readonly why: string }[] {
  return container.env.flatMap((entry) => {
    if (!(GUARDED_VARIABLES as readonly string[]).includes(entry.name)) return [];
    if (entry.value === undefined)
      return [{ entry, why: 'takes its value from elsewhere (valueFrom), which may open any GPU' }];
    if (entry.value.includes('$('))
      return [{ entry, why: 'is expanded from another variable, which may open any GPU' }];
    const devices = entry.value.split(',').map((device) => device.trim());
    // The runtime takes the whole list as void when void stands anywhere in it.
    if (devices.includes('void') || devices.every((device) => HARMLESS.has(device))) return [];
    const opening = devices.includes('all') ? 'all' : devices.find((device) => !HARMLESS.has(device));
    const twice = envEntry(container, entry.name) !== entry ? ' (and set again below)' : '';
    return [{ entry, why: `is ${shown(opening)}${twice}, which opens GPUs` }];
  });
}

/** What the policy makes of a way round the device plugin; undefined where it ignores them. `void` refuses as `deny` does. */
export function severityOfWays({ visibleDevices }: EffectivePolicy): Severity | undefined {
  if (visibleDevices === 'ignore') return undefined;
  return visibleDevices === 'warn' ? 'warning' : 'error';
}

/** True if the container may get a device by other means than the resources that count as GPUs: by a DRA claim of any form. */
export function mayGetDevice({ snapshot }: Context, { hasClaims, otherResources }: ContainerView): boolean {
  return hasClaims || otherResources.some((name) => snapshot.deviceClassResources?.has(name));
}

/** True if the policy hides all GPUs from the container: it asks for none, in whatever way. */
export function endsUpVoid(context: Context, container: ContainerView): boolean {
  return context.policy.visibleDevices === 'void' && !asksForGpu(container) && !mayGetDevice(context, container);
}
