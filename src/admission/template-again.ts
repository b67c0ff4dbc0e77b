import { WHOLE_GPU } from '../policy/resources.ts';
import type { Change } from './findings.ts';
import { sameJson, withValue } from './json.ts';
import { readOriginals } from './originals.ts';
import { asObject, type ContainerView, viewPod } from './pod.ts';
import { reapply } from './reapply.ts';

/**
 * A manifest that is applied again asks for what it asked for the first time, while the live template has been changed: kubectl
 * and server-side apply bring the old resource name back, beside the new one where they merge containers by name, in its
 * place where they don't.
 */

/** True when an update asks for nothing else than the template that was changed: all that differs is what gpugate had changed. */
export function asksForTheSame(template: unknown, old: unknown, extra: readonly string[]): boolean {
  let restored = template;
  for (const operation of reapply(template, old, extra)) {
    if (operation.op === 'remove') return false;
    const path = operation.path.slice(1).split('/').map(unescaped);
    restored = withValue(restored, path, operation.value);
  }
  return sameJson(withRequests(restored, old, extra), old);
}

/** Requests that were set to their limit (GPU006), where the update leaves them out. */
function withRequests(template: unknown, old: unknown, extra: readonly string[]): unknown {
  const before = new Map(viewPod(old, [], extra).containers.map((container) => [container.name, container]));
  let filled = template;
  for (const { name, path, gpus } of viewPod(template, [], extra).containers) {
    for (const { resource, limit, request } of gpus) {
      const live = before.get(name)?.gpus.find((ask) => ask.resource.name === resource.name);
      if (request || !limit || !live?.request || live.request.quantity?.nano !== limit.quantity?.nano) continue;
      filled = withValue(filled, [...path, 'resources', 'requests', resource.name], live.request.raw);
    }
  }
  return filled;
}

/**
 * The template as its user means it, without the resources that gpugate had put in the place of whole GPUs which are asked for
 * again, perhaps in another number; and the changes that take them out of the live one. That they were put there, the
 * annotation tells, or the live template of a policy that renames: a Notebook's has no annotations.
 */
export function withoutRenamed(
  template: unknown,
  old: unknown,
  path: readonly (string | number)[],
  extra: readonly string[],
): { readonly template: unknown; readonly drops: readonly Change[] } {
  const pod = viewPod(template, path, extra);
  const originals = readOriginals(pod.annotations);
  const before = new Map(viewPod(old, path, extra).containers.map((container) => [container.name, container]));
  let asked = template;
  const drops: Change[] = [];
  for (const container of pod.containers) {
    const live = before.get(container.name);
    const renamed = originals.get(container.name)?.has(WHOLE_GPU) || (live !== undefined && !asksForWhole(live));
    if (!renamed || !asksForWhole(container)) continue;
    for (const { resource } of container.gpus) {
      if (resource.vendor !== 'nvidia.com' || resource.kind === 'whole') continue;
      const { name } = resource;
      const reason = `${name} dropped: it stood for ${WHOLE_GPU}, which is asked for again`;
      drops.push({ type: 'drop-resource', code: 'GPU110', container, resource: name, reason, required: false });
      for (const list of ['limits', 'requests']) {
        asked = without(asked, [...container.path.slice(path.length), 'resources', list], name);
      }
    }
  }
  return { template: asked, drops };
}

function asksForWhole({ gpus }: ContainerView): boolean {
  return gpus.some(({ resource }) => resource.name === WHOLE_GPU);
}

function without(value: unknown, path: readonly (string | number)[], key: string): unknown {
  const parent = path.reduce<unknown>(
    (here, part) => (here as Readonly<Record<string | number, unknown>> | undefined)?.[part],
    value,
  );
  if (!asObject(parent)) return value;
  const { [key]: _, ...rest } = parent as Readonly<Record<string, unknown>>;
  return withValue(value, path, rest);
}

function unescaped(part: string): string {
  return part.replaceAll('~1', '/').replaceAll('~0', '~');
}
