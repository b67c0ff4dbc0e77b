import type { Context } from './context.ts';
import type { Change } from './findings.ts';
import { ORIGINAL, POLICY, writeOriginals } from './originals.ts';
import { describeCap } from './rules/gpu140-memory-cap.ts';

/**
 * The annotations that tell a pod's history: which policy was applied and, at a rename, the requests before. Written only
 * beside other changes, never required, and the same in every round.
 */
export function recordOf(context: Context, changes: readonly Change[]): readonly Change[] {
  const [first] = changes;
  // The ephemeralcontainers subresource lets nothing but containers change.
  if (!first || !context.whole || !context.policy.governed) return [];
  const record: Change[] = [];
  const write = (name: string, value: string) => {
    if (context.pod.annotations.get(name) === value) return;
    record.push({ type: 'set-annotation', code: first.code, name, value, reason: `${name} recorded`, required: false });
  };
  write(POLICY, applied(context));
  const renames = changes.filter((change) => change.type === 'rename-resource');
  if (renames.length === 0) return record;
  const originals = new Map([...context.originals].map(([name, quantities]) => [name, new Map(quantities)]));
  for (const { container, from, quantity } of renames) {
    const quantities = originals.get(container.name) ?? new Map<string, string>();
    originals.set(container.name, quantities.set(from, quantity));
  }
  write(ORIGINAL, writeOriginals(originals));
  return record;
}

/** `notebooks; memory cap 3584Mi (auto: 16384Mi / 4 - 512Mi, Tesla-T4-SHARED)`. */
function applied(context: Context): string {
  const cap = context.policy.problems.length === 0 && !context.leftTo ? context.cap() : undefined;
  const capped = cap && (cap.mib !== undefined || cap.thousandths !== undefined);
  return `${context.policy.name ?? 'namespace labels'}${capped ? `; ${describeCap(cap)}` : ''}`;
}
