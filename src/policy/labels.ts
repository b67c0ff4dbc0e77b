import { capAmount } from './amount.ts';
import { normalProfile, problemCode, profileProblem } from './boards.ts';
import { didYouMean } from './mistakes.ts';
import type { CapAmount, Mode, PolicyProblem, Sharing, VisibleDevices } from './policy.ts';
import { MODES, SHARINGS, VISIBLE_DEVICES } from './schema.ts';

const PREFIX = 'gpugate.dev/';

/** What the labels of one namespace say, each field only where its label stands and is understood. */
export interface LabelSettings {
  readonly policy?: string;
  readonly mode?: Mode;
  readonly sharing?: Sharing;
  readonly profile?: string;
  readonly memoryCap?: CapAmount;
  readonly maxGpus?: number;
  readonly visibleDevices?: VisibleDevices;
}

export interface ReadLabels {
  readonly settings: LabelSettings;
  readonly problems: readonly PolicyProblem[];
  readonly warnings: PolicyProblem[];
}

type Reader = (
  value: string,
) =>
  | { readonly set: Partial<LabelSettings> }
  | { readonly problem: string; readonly fix?: string; readonly code?: 'GPU101' | 'GPU113' };

const READERS: Readonly<Record<string, Reader>> = {
  policy: (value) => (value === '' ? { problem: 'is empty; name a GpuPolicy' } : { set: { policy: value } }),
  mode: oneOf(MODES, (mode) => ({ mode })),
  sharing: oneOf(SHARINGS, (sharing) => ({ sharing })),
  'mig-profile': (value) => {
    const profile = normalProfile(value);
    const problem = profileProblem(profile);
    if (problem) return { problem, code: problemCode(problem) };
    return { set: { profile } };
  },
  'memory-cap': (value) => {
    const memoryCap = capAmount(value);
    return typeof memoryCap === 'string' ? { problem: memoryCap } : { set: { memoryCap } };
  },
  'max-gpus': (value) =>
    /^\d{1,9}$/.test(value) ? { set: { maxGpus: Number(value) } } : { problem: 'is not a whole number such as 2' },
  'visible-devices': oneOf(VISIBLE_DEVICES, (visibleDevices) => ({ visibleDevices })),
};

/** Reads the `gpugate.dev/` labels of a namespace. A known label with a value that is not understood is a problem, an unknown one a warning. */
export function readLabels(labels: Readonly<Record<string, string>>): ReadLabels {
  let settings: LabelSettings = {};
  const problems: PolicyProblem[] = [];
  const warnings: PolicyProblem[] = [];
  for (const key of Object.keys(labels)
    .filter((name) => name.startsWith(PREFIX))
    .sort()) {
    const text: unknown = labels[key];
    const value = typeof text === 'string' ? text : '';
    const reader = Object.hasOwn(READERS, key.slice(PREFIX.length)) ? READERS[key.slice(PREFIX.length)] : undefined;
    const where = `namespace label ${key}`;
    if (!reader) {
      const names = Object.keys(READERS);
      warnings.push({
        code: 'GPU101',
        where,
        value,
        message: 'is not a label that gpugate knows',
        fix:
          didYouMean(
            key,
            names.map((name) => PREFIX + name),
          ) ?? `Known are ${names.join(', ')}.`,
      });
      continue;
    }
    const read = reader(value);
    if ('set' in read) settings = { ...settings, ...read.set };
    else
      problems.push({
        code: read.code ?? 'GPU101',
        where,
        value,
        message: read.problem,
        fix: read.fix ?? 'Correct the label.',
      });
  }
  return { settings, problems, warnings };
}

function oneOf<T extends string>(values: readonly T[], set: (value: T) => Partial<LabelSettings>): Reader {
  return (value) => {
    const found = values.find((known) => known === value);
    if (found !== undefined) return { set: set(found) };
    const fix = didYouMean(value, values);
    return { problem: `is not one of ${values.join(', ')}`, ...(fix === undefined ? {} : { fix }) };
  };
}
