import { z } from 'zod';
import { which } from './mistakes.ts';
import { DNS_LABEL, DNS_SUBDOMAIN } from './names.ts';
import type { CapAmount } from './policy.ts';
import {
  amount,
  capLimit,
  count,
  LONGEST_KEY,
  LONGEST_LABEL,
  MULTIPLE,
  memory,
  products,
  profile,
  sharedBlock,
} from './schema-fields.ts';

export const API_VERSION = 'gpugate.dev/v1alpha1';

const FRAMEWORKS = ['nvidia', 'jax', 'tensorflow', 'cupy', 'paddle', 'pytorch', 'hami-core', 'tgi'] as const;

export const MODES = ['enforce', 'warn', 'audit'] as const;
export const SHARINGS = ['exclusive', 'time-slicing', 'mps', 'mig'] as const;
export const VISIBLE_DEVICES = ['ignore', 'warn', 'void', 'deny'] as const;
/** Fields that a policy can keep from namespace labels. */
export const LOCKABLE = ['mode', 'sharing', 'migProfile', 'memoryCap', 'maxGpus', 'visibleDevices'] as const;

/** Fields that are wrong by themselves don't hide that others do not go together: all mistakes are told at once. */
const IN_ANY_CASE = { when: ({ value }: { value: unknown }) => typeof value === 'object' && value !== null };

/** A spec whose fields may be anything yet, where they were not understood. */
interface Unchecked {
  readonly sharing?: string | undefined;
  readonly mig?: { readonly exposure?: string; readonly nodeLabels?: object | undefined } | undefined;
  readonly timeSlicing?: object | undefined;
  readonly mps?: object | undefined;
  readonly exclusive?: object | undefined;
  readonly memoryCap?:
    | {
        readonly amount?: CapAmount;
        readonly max?: number | undefined;
        readonly fallback?: number | undefined;
      }
    | undefined;
  readonly tolerations?: readonly ({ readonly operator?: string; readonly value?: string | undefined } | null)[];
}

/** The spec of a GpuPolicy. Descriptions are what `kubectl explain` prints. Unknown fields are errors: a misspelt field would otherwise be a rule that nobody enforces. */
const spec = z
  .strictObject({
    mode: z
      .enum(MODES)
      .default('enforce')
      .describe(
        'What becomes of a verdict. enforce: errors refuse the pod, changes are made. warn: both are told as warnings, nothing is refused or changed. audit: both are only recorded. What the API server refuses anyway is refused in every mode.',
      ),
    sharing: z
      .enum(SHARINGS)
      .optional()
      .describe(
        'How the GPUs of these namespaces are split. exclusive: whole GPUs, away from shared nodes. time-slicing, mps: several pods take turns on a GPU, or share it. mig: whole GPUs become MIG slices, the only kind that isolates memory. Default: none, GPU requests are left as they are.',
      ),
    mig: z
      .strictObject({
        profile: profile.describe(
          'The MIG profile that a whole GPU becomes, such as 1g.10gb, 1g.10gb.me (or 1g.10gb+me) or 1g.24gb-me. It must exist on a known board.',
        ),
        allowedProfiles: z
          .array(profile)
          .min(1)
          .max(64)
          .optional()
          .describe(
            'Profiles that a pod may ask for, by resource name or by the annotation gpugate.dev/mig-profile. The profile itself is always allowed. Default: only the profile.',
          ),
        multiple: z
          .enum(MULTIPLE)
          .default('deny')
          .describe('What to do with a container that would get several slices: a CUDA process sees one MIG device.'),
        exposure: z
          .enum(['resource', 'selector'])
          .default('resource')
          .describe(
            'How nodes offer slices. resource: under names of their own, nvidia.com/mig-1g.10gb (MIG strategy mixed), and requests are renamed. selector: as nvidia.com/gpu (MIG strategy single, GKE), and nodeLabels pick the nodes.',
          ),
        nodeLabels: z
          .record(z.string(), z.string())
          .optional()
          .describe(
            'With exposure: selector, the labels of nodes that offer the profile; {profile} is replaced, as in nvidia.com/mig.config: all-{profile}. Required there.',
          ),
        products,
      })
      .optional()
      .describe('Which MIG slices a whole GPU becomes. Required with sharing: mig, and only read there.'),
    exclusive: z
      .strictObject({ products })
      .optional()
      .describe('Which whole GPUs are meant. Only with sharing: exclusive.'),
    timeSlicing: sharedBlock('time-slicing', 'Default: warn, since the device plugin allows it.'),
    mps: sharedBlock('mps', 'Default: deny, as the device plugin itself refuses it.'),
    memoryCap: z
      .strictObject({
        amount: amount.describe(
          'How much memory of a GPU one container may use: a quantity (8Gi), a percentage of the whole GPU (25%), 0 for no cap, or auto: memory / replicas - reserve of the smallest share that the pod can reach, by the labels of the nodes.',
        ),
        max: capLimit
          .optional()
          .describe(
            'The most that auto gives, and that a pod may wish for by the annotation gpugate.dev/memory-cap; at least 256Mi. Default: none.',
          ),
        reserve: memory
          .optional()
          .describe('Kept free beside an auto cap, for the CUDA context that no framework counts. Default: 512Mi.'),
        fallback: capLimit
          .optional()
          .describe(
            'The auto cap while no node that the pod can reach tells its memory, at least 256Mi. Default: none, and then a warning (GPU143).',
          ),
        frameworks: z
          .array(z.enum(FRAMEWORKS))
          .max(FRAMEWORKS.length)
          .optional()
          .describe(
            'Whose variables are set. pytorch (2.10 or later), hami-core and tgi only where named. Default: nvidia, jax, tensorflow, cupy, paddle.',
          ),
      })
      .optional()
      .describe(
        'Caps the GPU memory of each container that shares a GPU, by environment variables. Cooperative: a process can unset them. Only with sharing: time-slicing or mps.',
      ),
    tolerations: z
      .array(
        z.strictObject({
          key: z.string().min(1).max(LONGEST_KEY).describe('Key of the taint that is tolerated.'),
          operator: z
            .enum(['Exists', 'Equal'])
            .default('Equal')
            .describe('Exists: any value. Equal: the value as given.'),
          value: z.string().max(LONGEST_LABEL).optional().describe('Value of the taint. Only with operator: Equal.'),
          effect: z
            .enum(['NoSchedule', 'PreferNoSchedule', 'NoExecute'])
            .optional()
            .describe('Effect of the taint. Default: every effect.'),
        }),
      )
      .max(32)
      .default([])
      .describe('Tolerations added to pods that ask for a GPU. Default: none.'),
    runtimeClassName: z
      .string()
      .max(253)
      .regex(DNS_SUBDOMAIN, which('is not the name of a RuntimeClass'))
      .optional()
      .describe(
        'The RuntimeClass for pods that ask for an NVIDIA GPU and name none, such as nvidia. A class that the pod names stays. Default: none is set.',
      ),
    nodesOnDemand: z
      .boolean()
      .default(false)
      .describe(
        'Nodes come when pods wait for them (an autoscaler), so that no node offers a GPU at this moment is not warned of.',
      ),
    otherSchedulers: z
      .array(z.string().min(1).max(253))
      .max(32)
      .default([])
      .describe(
        'Schedulers whose pods are left alone. The author of a pod picks its scheduler, so each name is a way round the policy. Default: none.',
      ),
    maxGpus: z
      .strictObject({
        perContainer: count.optional().describe('The most GPUs of a container. Default: no limit.'),
        perPod: count
          .optional()
          .describe(
            'The most GPUs of a pod, sidecars and init containers as Kubernetes counts them. Default: no limit.',
          ),
      })
      .default({})
      .describe('How many GPUs a pod may ask for.'),
    visibleDevices: z
      .enum(VISIBLE_DEVICES)
      .default('ignore')
      .describe(
        'What to do about pods that reach for GPUs past the device plugin, by NVIDIA_VISIBLE_DEVICES and the like. warn and deny speak of it. void also hides GPUs from containers that ask for none; it needs the namespace label gpugate.dev/visible-devices=void to reach all pods.',
      ),
    templates: z
      .enum(['off', 'warn', 'deny', 'mutate'])
      .default('warn')
      .describe(
        'What to do when a workload (Deployment, Job, PyTorchJob ...) is applied whose pods would be refused or changed. "off" (in quotes, since YAML takes it for a boolean): nothing. warn: say so. deny: refuse what enforce would refuse of its pods. mutate: as deny, and change its pod templates as their pods would be, for queueing systems that count by the template; GitOps tools then see a difference. Only in mode enforce.',
      ),
    locked: z
      .array(z.enum(LOCKABLE))
      .max(LOCKABLE.length)
      .default([])
      .describe(
        'Fields that labels of a namespace may not change: a label that says something else than the policy is ignored, with a warning. Default: none, a label beats the policy.',
      ),
  })
  .superRefine((value: Unchecked, context) => {
    const issue = (path: string[], message: string, fix = '') =>
      context.addIssue({ code: 'custom', path, message, params: { fix } });
    // One that is not understood itself is told as such, and may mean any of these.
    const sharing = SHARINGS.find((known) => known === value.sharing);
    const meant = value.sharing === undefined || sharing !== undefined;
    const isOnlyRead = (field: string, when: string, fix: string) =>
      issue([field], `is only read with sharing: ${when}; sharing is ${sharing ?? 'not set'}`, fix);
    const labels = Object.keys(value.mig?.nodeLabels ?? {}).length > 0;
    if (value.mig?.exposure === 'selector' && !labels) {
      issue(
        ['mig', 'nodeLabels'],
        'is missing, and exposure is selector',
        'Add the labels of the nodes, such as nvidia.com/mig.config: all-{profile}.',
      );
    }
    if (value.mig?.exposure === 'resource' && labels)
      issue(
        ['mig', 'nodeLabels'],
        'is only read with exposure: selector',
        'Set spec.mig.exposure: selector, or leave out spec.mig.nodeLabels.',
      );
    for (const [index, toleration] of [value.tolerations ?? []].flat().entries()) {
      if (toleration?.operator === 'Exists' && toleration.value)
        issue(['tolerations', String(index), 'value'], 'must be empty with operator: Exists');
    }
    if (sharing === 'mig' && !value.mig)
      issue(['mig'], 'is missing, and sharing is mig', 'Add spec.mig.profile, such as 1g.10gb.');
    for (const [block, when] of [
      ['mig', 'mig'],
      ['timeSlicing', 'time-slicing'],
      ['mps', 'mps'],
      ['exclusive', 'exclusive'],
    ] as const) {
      if (value[block] && meant && sharing !== when)
        isOnlyRead(block, when, `Set spec.sharing: ${when}, or leave out spec.${block}.`);
    }
    if (value.memoryCap && meant && sharing !== 'time-slicing' && sharing !== 'mps')
      isOnlyRead('memoryCap', 'time-slicing or mps', 'Set spec.sharing to one of them, or leave out spec.memoryCap.');
    const cap = value.memoryCap;
    if (cap?.amount?.kind === 'mib' && cap.max !== undefined && cap.amount.mib > cap.max) {
      issue(['memoryCap', 'amount'], `is ${cap.amount.text}, which is above memoryCap.max`);
    }
    if (cap?.fallback !== undefined && cap.max !== undefined && cap.fallback > cap.max) {
      issue(['memoryCap', 'fallback'], 'is above memoryCap.max');
    }
  }, IN_ANY_CASE);

/** A GpuPolicy document: what a cluster admin writes, and what the custom resource is generated from. */
export const gpuPolicySchema = z.strictObject({
  apiVersion: z.literal(API_VERSION),
  kind: z.literal('GpuPolicy'),
  metadata: z.looseObject({
    name: z
      .string()
      .regex(DNS_LABEL, which('is not a DNS label of at most 63 characters, as a namespace label names it')),
  }),
  spec: spec.describe('What is done with GPU requests in the namespaces that name this policy.'),
  /** Written by gpugate; read by nobody here, but `kubectl get -o yaml` has it. */
  status: z.unknown().optional(),
});

export type GpuPolicy = z.output<typeof gpuPolicySchema>;
