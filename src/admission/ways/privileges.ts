import type { Context } from '../context.ts';
import type { Severity, Tell } from '../findings.ts';
import { asArray, asksForGpu, asObject, type ContainerView, envEntry, fieldPath } from '../pod.ts';
import { found } from '../rules/each.ts';
import { shown } from '../shown.ts';
import { endsUpVoid, VISIBLE_DEVICES_VARIABLE } from '../visible-devices.ts';

/** With these in `capabilities.add` a container counts as privileged to the container toolkit. */
const SYS_ADMIN = /^(CAP_)?(SYS_ADMIN|ALL)$/i;

/**
 * Privileged containers of a pod that asks for a GPU: they see every device of the node. CAP_SYS_ADMIN is what the toolkit looks
 * for where it takes device variables from privileged containers only (accept-nvidia-visible-devices-envvar-when-unprivileged=false),
 * and what the MIG variables of an image need; a container that ends up `void` gets nothing by it.
 */
export function privileges(context: Context, severity: Severity, tell: Tell): void {
  if (!context.pod.containers.some(asksForGpu)) return;
  for (const container of context.containers) {
    const security = asObject(container.spec.securityContext);
    const added = asArray(asObject(security?.capabilities)?.add);
    const index = added.findIndex((name) => typeof name === 'string' && SYS_ADMIN.test(name));
    if (security?.privileged === true) {
      tell(
        found('GPU152', severity, container, {
          field: fieldPath([...container.path, 'securityContext', 'privileged']),
          value: 'true',
          message: 'it is privileged in a pod with a GPU, so it sees every GPU of the node.',
          fix: 'Remove privileged: no container needs it to use a GPU.',
        }),
      );
    } else if (index >= 0 && !isVoid(context, container)) {
      tell(
        found('GPU152', severity, container, {
          field: fieldPath([...container.path, 'securityContext', 'capabilities', 'add', index]),
          value: shown(added[index]),
          message: `it has the capability ${shown(added[index])} in a pod with a GPU, which lets its image name any GPU.`,
          fix: asksForGpu(container)
            ? 'Remove the capability: no container needs it to use a GPU.'
            : `Remove the capability, or set ${VISIBLE_DEVICES_VARIABLE} to void.`,
        }),
      );
    }
  }
}

function isVoid(context: Context, container: ContainerView): boolean {
  return envEntry(container, VISIBLE_DEVICES_VARIABLE)?.value === 'void' || endsUpVoid(context, container);
}
