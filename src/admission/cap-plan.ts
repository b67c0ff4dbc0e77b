import { type CapVariable, capVariables } from '../policy/cap-variables.ts';
import { cappedUnits } from './cap.ts';
import type { CapSize } from './cap-size.ts';
import { capValue, standing } from './cap-values.ts';
import type { Context } from './context.ts';
import { type ContainerView, type EnvEntry, envEntry } from './pod.ts';

/** What one cap variable of one container needs. */
export interface CapStep {
  readonly container: ContainerView;
  readonly variable: CapVariable;
  /** The name under which it is set: the catalogue's, or the user's own that serves the same purpose. */
  readonly name: string;
  readonly value: string;
  /** The user's entry that is replaced; undefined when the variable is added. */
  readonly replaces?: EnvEntry;
  /** The final pod must not stay as it is: no cap variable at all, or a value above the ceiling. */
  readonly required: boolean;
}

/** HAMi-core's limit of one device, which wins over the name without an index. */
export const INDEXED_LIMIT = /^CUDA_DEVICE_MEMORY_LIMIT_\d{1,2}$/;

/** Everything that is missing or too loose for the policy's memory cap. Stricter values of the user's stay. */
export function capSteps(context: Context): readonly CapStep[] {
  const { policy } = context;
  const cap = context.cap();
  if (!policy.memoryCap || (cap.mib === undefined && cap.thousandths === undefined)) return [];
  const variables = capVariables(policy.memoryCap.frameworks, policy.sharing === 'mps');
  return context.capped().flatMap((container) => {
    const capped = variables.some((variable) => present(container, variable).length > 0);
    return variables.flatMap((variable) => stepsFor(context, container, variable, !capped));
  });
}

function stepsFor(
  context: Context,
  container: ContainerView,
  variable: CapVariable,
  uncapped: boolean,
): readonly CapStep[] {
  const units = cappedUnits(context, container);
  const size = bounded(container, variable, context.cap());
  const entries = present(container, variable);
  if (entries.length === 0) {
    const value = capValue(variable, size, units);
    return value === undefined ? [] : [{ container, variable, name: variable.name, value, required: uncapped }];
  }
  return entries.flatMap((entry): readonly CapStep[] => {
    const actual = entry.value === undefined ? 'unreadable' : standing(variable.measure, entry.value, size, units);
    const value = capValue(variable, size, units, entry.value);
    if (actual === 'within' || value === undefined || value === entry.value) return [];
    const ceiling = bounded(container, variable, context.cap().ceiling);
    const tooMuch = entry.value === undefined || standing(variable.measure, entry.value, ceiling, units) !== 'within';
    return [
      {
        container,
        variable,
        name: entry.name,
        value,
        replaces: entry,
        required: tooMuch && variable.measure !== 'flag',
      },
    ];
  });
}

/** The entries that set this variable or one that serves in its place. */
function present(container: ContainerView, variable: CapVariable): readonly EnvEntry[] {
  const names = [variable.name, ...(variable.insteadOf ?? [])];
  const entries = names.flatMap((name) => envEntry(container, name) ?? []);
  // PyTorch reads the general name first, and then never the CUDA one.
  if (variable.measure === 'allocator') return entries.slice(0, 1);
  if (variable.measure !== 'suffixed') return entries;
  // CUDA_DEVICE_MEMORY_LIMIT_0 wins over the name without an index (HAMi-core multiprocess_memory_limit.c).
  const indexed = new Map<string, EnvEntry>();
  for (const entry of container.env) if (INDEXED_LIMIT.test(entry.name)) indexed.set(entry.name, entry);
  return [...entries, ...indexed.values()];
}

/** NVIDIA_GPU_MEMORY_REQUEST above the limit stops the container, so a stricter limit of the user's bounds it too. */
function bounded(container: ContainerView, variable: CapVariable, size: CapSize): CapSize {
  if (variable.name !== 'NVIDIA_GPU_MEMORY_REQUEST') return size;
  const limit = envEntry(container, 'NVIDIA_GPU_MEMORY_LIMIT')?.value;
  if (limit === undefined || standing('mib', limit, size, 1) !== 'within') return size;
  // Without a figure in MiB to hold it against, the limit may have 30 digits.
  return Number.isSafeInteger(Number(limit)) ? { ...size, mib: Number(limit) } : size;
}
