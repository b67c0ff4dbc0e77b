import type { Severity, Tell } from '../findings.ts';
import { fieldPath, type PodView } from '../pod.ts';
import { shown } from '../shown.ts';

/**
 * Pod annotations that the NRI plugin of the container toolkit reads: nvidia.cdi.k8s.io, nvidia.cdi.k8s.io/pod and
 * nvidia.cdi.k8s.io/container.<name>. Each names CDI devices, which the runtime then adds (container toolkit 1.19, cdi.nriPluginEnabled).
 */
export const CDI_ANNOTATION = 'nvidia.cdi.k8s.io';

/** One finding for each such annotation that `before` has not, or not with this value. */
export function cdiAnnotations(
  { annotations, path }: PodView,
  severity: Severity,
  tell: Tell,
  before?: ReadonlyMap<string, string>,
): void {
  for (const [name, value] of annotations) {
    if (!name.startsWith(CDI_ANNOTATION) || before?.get(name) === value) continue;
    tell({
      code: 'GPU152',
      severity,
      field: fieldPath([...path, 'metadata', 'annotations', name]),
      value: shown(value),
      message: `the annotation gives the pod the CDI devices ${shown(value)}, past the device plugin.`,
      fix: 'Remove the annotation, and ask for a GPU under resources.limits.',
    });
  }
}
