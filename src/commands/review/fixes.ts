import type { Finding } from '../../admission/findings.ts';
import { type PatchOperation, pointer } from '../../admission/patch.ts';
import { asObject, fieldPath, type JsonObject } from '../../admission/pod.ts';
import { isWhole, quantityFromJson } from '../../admission/quantity.ts';
import { valueAt } from '../../admission/templates.ts';

/** A finding that has one right answer, and the operations that write it. */
export interface Fix {
  readonly code: Finding['code'];
  /** Name of the container. */
  readonly container: string;
  /** The field of the finding. */
  readonly field: string;
  /** What is written, or is to be written by hand. */
  readonly line: string;
  readonly operations: readonly PatchOperation[];
}

/**
 * What can be written into a manifest without a guess: a whole number of GPUs that stands only in requests is what the limit
 * must be (GPU004). Everything else has more than one answer: half a GPU may mean one or none, of two unequal numbers either.
 */
export function fixesOf(object: JsonObject, findings: readonly Finding[]): readonly Fix[] {
  const made = new Set<string>();
  return findings.flatMap(({ code, container, field }) => {
    const name = container && /\.requests\[(.+)\]$/.exec(field)?.[1];
    if (code !== 'GPU004' || !container || name === undefined) return [];
    const resources = [...container.path, 'resources'];
    const value = valueAt(object, [...resources, 'requests', name]);
    const quantity = quantityFromJson(value);
    if (!quantity || !isWhole(quantity) || quantity.nano <= 0n) return [];
    const limits = pointer([...resources, 'limits']);
    const hasLimits = made.has(limits) || asObject(valueAt(object, [...resources, 'limits'])) !== undefined;
    made.add(limits);
    const parent: readonly PatchOperation[] = hasLimits ? [] : [{ op: 'add', path: limits, value: {} }];
    const path = [...resources, 'limits', name];
    const operations = [...parent, { op: 'add', path: pointer(path), value } as const];
    return [{ code, container: container.name, field, line: `${fieldPath(path)}: ${value}`, operations }];
  });
}
