import { z } from 'zod';
import { parseQuantity } from '../admission/quantity.ts';
import { capAmount, mebibytes, SMALLEST_CAP_MIB } from './amount.ts';
import { normalProfile, profileProblem } from './boards.ts';
import { SHARED_GPU, WHOLE_GPU } from './resources.ts';

export const API_VERSION = 'gpugate.dev/v1alpha1';

const MULTIPLE = ['deny', 'warn', 'allow'] as const;
const FRAMEWORKS = ['nvidia', 'jax', 'tensorflow', 'cupy', 'paddle', 'pytorch', 'hami-core', 'tgi'] as const;

export const MODES = ['enforce', 'warn', 'audit'] as const;
export const SHARINGS = ['exclusive', 'time-slicing', 'mps', 'mig'] as const;
export const VISIBLE_DEVICES = ['ignore', 'warn', 'void', 'deny'] as const;

/** A quantity may be written as a YAML number (`4096`) as well as a string. */
const text = z.union([z.string(), z.number()]).transform(String);

const memory = text.transform((value, context) => {
  const mib = mebibytes(value);
  // Without a suffix a quantity is in bytes: 512 would be no reserve at all.
  const bytes = mib === 0 && parseQuantity(value)?.nano !== 0n;
  if (mib !== undefined && !bytes) return mib;
  const message = bytes
    ? `"${value}" is less than 1Mi; write a suffix such as Mi or Gi`
    : `"${value}" is not a quantity of memory such as 8Gi or 512Mi`;
  context.addIssue({ code: 'custom', message });
  return z.NEVER;
});

/** A limit of 0 means "no limit" to the programs that read it, so a cap can't be that small. */
const capLimit = memory.refine(
  (mib) => mib >= SMALLEST_CAP_MIB,
  `is less than ${SMALLEST_CAP_MIB}Mi, which no GPU program can start in`,
);

const amount = text.transform((value, context) => {
  const parsed = capAmount(value);
  if (typeof parsed !== 'string') return parsed;
  context.addIssue({ code: 'custom', message: `"${value}" ${parsed}` });
  return z.NEVER;
});

const profile = z.string().transform((value, context) => {
  const normal = normalProfile(value);
  const problem = profileProblem(normal);
  if (!problem) return normal;
  context.addIssue({ code: 'custom', message: `"${value}" ${problem}` });
  return z.NEVER;
});

const count = z
  .number()
  .int()
  .min(0)
  .max(2 ** 31 - 1);

const products = z.array(z.string().min(1)).default([]);

const sharedBlock = z.strictObject({
  resource: z.enum([WHOLE_GPU, SHARED_GPU]).optional(),
  requireSharedNode: z.boolean().default(false),
  products,
  multiple: z.enum(MULTIPLE).optional(),
});

/** The spec of a GpuPolicy. Unknown fields are errors: a misspelt field would otherwise be a rule that nobody enforces. */
const spec = z
  .strictObject({
    mode: z.enum(MODES).default('enforce'),
    sharing: z.enum(SHARINGS).optional(),
    mig: z
      .strictObject({
        profile,
        allowedProfiles: z.array(profile).min(1).optional(),
        multiple: z.enum(MULTIPLE).default('deny'),
        exposure: z.enum(['resource', 'selector']).default('resource'),
        nodeLabels: z.record(z.string(), z.string()).optional(),
        products,
      })
      .optional(),
    exclusive: z.strictObject({ products }).optional(),
    timeSlicing: sharedBlock.optional(),
    mps: sharedBlock.optional(),
    memoryCap: z
      .strictObject({
        amount,
        max: capLimit.optional(),
        reserve: memory.optional(),
        fallback: capLimit.optional(),
        frameworks: z.array(z.enum(FRAMEWORKS)).optional(),
      })
      .optional(),
    tolerations: z
      .array(
        z.strictObject({
          key: z.string().min(1),
          operator: z.enum(['Exists', 'Equal']).default('Equal'),
          value: z.string().optional(),
          effect: z.enum(['NoSchedule', 'PreferNoSchedule', 'NoExecute']).optional(),
        }),
      )
      .default([]),
    nodesOnDemand: z.boolean().default(false),
    otherSchedulers: z.array(z.string().min(1)).default([]),
    maxGpus: z.strictObject({ perContainer: count.optional(), perPod: count.optional() }).default({}),
    visibleDevices: z.enum(VISIBLE_DEVICES).default('ignore'),
    templates: z.enum(['off', 'warn', 'deny']).default('warn'),
  })
  .superRefine((value, context) => {
    const issue = (path: string[], message: string) => context.addIssue({ code: 'custom', path, message });
    const labels = Object.keys(value.mig?.nodeLabels ?? {}).length > 0;
    if (value.mig?.exposure === 'selector' && !labels) {
      issue(
        ['mig', 'nodeLabels'],
        'exposure is selector, so the labels of the nodes are needed, such as nvidia.com/mig.config: all-{profile}',
      );
    }
    if (value.mig?.exposure === 'resource' && labels)
      issue(['mig', 'nodeLabels'], 'is only read with exposure: selector');
    for (const [index, { operator, value: wanted }] of value.tolerations.entries()) {
      if (operator === 'Exists' && wanted)
        issue(['tolerations', String(index), 'value'], 'must be empty with operator: Exists');
    }
    if (value.sharing === 'mig' && !value.mig) issue(['mig'], 'sharing is mig, so mig.profile is needed');
    for (const [block, sharing] of [
      ['mig', 'mig'],
      ['timeSlicing', 'time-slicing'],
      ['mps', 'mps'],
      ['exclusive', 'exclusive'],
    ] as const) {
      if (value[block] && value.sharing !== sharing) {
        issue([block], `is only read with sharing: ${sharing}; sharing is ${value.sharing ?? 'not set'}`);
      }
    }
    if (value.memoryCap && value.sharing !== 'time-slicing' && value.sharing !== 'mps') {
      issue(['memoryCap'], `is only read with sharing: time-slicing or mps; sharing is ${value.sharing ?? 'not set'}`);
    }
    const cap = value.memoryCap;
    if (cap?.amount.kind === 'mib' && cap.max !== undefined && cap.amount.mib > cap.max) {
      issue(['memoryCap', 'amount'], `${cap.amount.text} is above memoryCap.max`);
    }
    if (cap?.fallback !== undefined && cap.max !== undefined && cap.fallback > cap.max) {
      issue(['memoryCap', 'fallback'], 'is above memoryCap.max');
    }
  });

/** A GpuPolicy document: what a cluster admin writes, and what the custom resource is generated from. */
export const gpuPolicySchema = z.strictObject({
  apiVersion: z.literal(API_VERSION, `is not ${API_VERSION}`),
  kind: z.literal('GpuPolicy', 'is not GpuPolicy'),
  metadata: z.looseObject({
    name: z
      .string()
      .regex(
        /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/,
        'must be a DNS label of at most 63 characters, since a namespace label names it',
      ),
  }),
  spec,
});

export type GpuPolicy = z.output<typeof gpuPolicySchema>;
