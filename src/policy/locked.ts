import { isDeepStrictEqual } from 'node:util';
import { type LabelSettings, type ReadLabels, readLabels } from './labels.ts';
import type { PolicyProblem } from './policy.ts';
import type { GpuPolicy, LOCKABLE } from './schema.ts';

type Spec = GpuPolicy['spec'];

/** What each lockable field is called as a label, in the settings of labels, and in the policy. */
const FIELDS: Readonly<
  Record<
    (typeof LOCKABLE)[number],
    { readonly label: string; readonly setting: keyof LabelSettings; readonly own: (spec: Spec) => unknown }
  >
> = {
  mode: { label: 'gpugate.dev/mode', setting: 'mode', own: (spec) => spec.mode },
  sharing: { label: 'gpugate.dev/sharing', setting: 'sharing', own: (spec) => spec.sharing },
  migProfile: { label: 'gpugate.dev/mig-profile', setting: 'profile', own: (spec) => spec.mig?.profile },
  memoryCap: { label: 'gpugate.dev/memory-cap', setting: 'memoryCap', own: (spec) => spec.memoryCap?.amount },
  maxGpus: { label: 'gpugate.dev/max-gpus', setting: 'maxGpus', own: (spec) => spec.maxGpus.perPod },
  visibleDevices: {
    label: 'gpugate.dev/visible-devices',
    setting: 'visibleDevices',
    own: (spec) => spec.visibleDevices,
  },
};

/**
 * What labels say beside a policy that locks fields. A label that touches one is ignored with a warning, not an error: which of the two
 * counts is no guess, and an error would stop every GPU pod of a namespace the moment that an admin locks a field. A label that says what
 * the policy says is none: `visible-devices: void` is needed beside a locked `void`, for the API server to send every pod.
 */
export function unlocked(labels: Readonly<Record<string, string>>, read: ReadLabels, policy: GpuPolicy): ReadLabels {
  const { spec, metadata } = policy;
  const ignored = new Map<string, PolicyProblem>();
  for (const field of spec.locked) {
    const { label, setting, own } = FIELDS[field];
    const said = read.settings[setting];
    if (labels[label] === undefined || (said !== undefined && isDeepStrictEqual(said, own(spec)))) continue;
    ignored.set(label, {
      code: 'GPU101',
      where: `namespace label ${label}`,
      value: labels[label],
      message: `is ignored, since policy "${metadata.name}" locks ${field}`,
      fix: 'Remove the label.',
    });
  }
  if (ignored.size === 0) return read;
  const kept = readLabels(Object.fromEntries(Object.entries(labels).filter(([name]) => !ignored.has(name))));
  return { ...kept, warnings: [...kept.warnings, ...ignored.values()] };
}
