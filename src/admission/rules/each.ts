import type { AskAt, Context } from '../context.ts';
import type { Code, ContainerAt, Finding, Severity } from '../findings.ts';
import { type Asked, type ContainerView, fieldPath, type GpuAsk } from '../pod.ts';
import { cut } from '../shown.ts';

/** Every GPU resource of every judged container. */
export function eachAsk(context: Context): readonly AskAt[] {
  return context.asks;
}

/** Every value that stands for a GPU resource, limits before requests as the API server reads them. */
export function* eachValue(
  context: Context,
): Iterable<{ container: ContainerView; ask: GpuAsk; list: 'limits' | 'requests'; asked: Asked }> {
  for (const { container, ask } of eachAsk(context)) {
    if (ask.limit) yield { container, ask, list: 'limits', asked: ask.limit };
    if (ask.request) yield { container, ask, list: 'requests', asked: ask.request };
  }
}

export function resourceField(container: ContainerAt, list: 'limits' | 'requests', resource: string): string {
  return fieldPath([...container.path, 'resources', list, resource]);
}

/** Enough for every name that the API server takes. */
const LONGEST_TEXT = 1000;

/** A finding about one container. */
export function found(
  code: Code,
  severity: Severity,
  container: ContainerView,
  details: Pick<Finding, 'field' | 'message' | 'fix'> & Partial<Pick<Finding, 'value' | 'refusedAnyway' | 'repeated'>>,
): Finding {
  const { path, field, name } = container;
  // Names of resources are the user's, and not validated yet: they may be megabytes long.
  const texts = {
    message: cut(details.message, LONGEST_TEXT),
    fix: cut(details.fix, LONGEST_TEXT),
    field: cut(details.field, LONGEST_TEXT),
  };
  return { code, severity, container: { path, field, name }, ...details, ...texts };
}
