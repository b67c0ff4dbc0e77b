import type { Context } from '../context.ts';
import type { Severity, Tell } from '../findings.ts';
import { asksForGpu, fieldPath, type PodView } from '../pod.ts';
import { shown } from '../shown.ts';
import { mayGetDevice } from '../visible-devices.ts';

/** In the names of the classes that the GPU operator makes: nvidia, nvidia-cdi, nvidia-legacy. */
export const NVIDIA_CLASS = 'nvidia';

/** The RuntimeClass that a pod names; undefined for none. */
export function runtimeClassOf({ spec }: PodView): string | undefined {
  return typeof spec.runtimeClassName === 'string' && spec.runtimeClassName !== '' ? spec.runtimeClassName : undefined;
}

/** True if the pod asks for an NVIDIA GPU as a resource. */
export function asksForNvidia({ containers }: PodView): boolean {
  return containers.some((container) => {
    return asksForGpu(container) && container.gpus.some(({ resource }) => resource.vendor === 'nvidia.com');
  });
}

/**
 * The NVIDIA runtime on a pod that asks for no GPU: it gives a container the devices that its image names, and CUDA images name
 * all. Where the operator uses CDI this class is what opens that way, since the default runtime is another one. Nothing is
 * opened where every container gets `void`.
 */
export function nvidiaClass(context: Context, severity: Severity, tell: Tell): void {
  const { pod, policy } = context;
  const name = runtimeClassOf(pod);
  if (name === undefined || policy.visibleDevices === 'void') return;
  if (!name.includes(NVIDIA_CLASS) && name !== policy.runtimeClassName) return;
  if (pod.containers.some((container) => asksForGpu(container) || mayGetDevice(context, container))) return;
  tell({
    code: 'GPU152',
    severity,
    field: fieldPath([...pod.path, 'spec', 'runtimeClassName']),
    value: shown(name),
    message: `no container asks for a GPU, and the runtime ${shown(name)} gives each the GPUs that its image names.`,
    fix: 'Remove runtimeClassName, or ask for a GPU under resources.limits.',
  });
}
