import { z } from 'zod';
import { parseQuantity } from '../admission/quantity.ts';
import { capAmount, mebibytes, SMALLEST_CAP_MIB } from './amount.ts';
import { normalProfile, problemCode, profileProblem } from './boards.ts';
import { which } from './mistakes.ts';
import { gpuResource, SHARED_GPU, WHOLE_GPU } from './resources.ts';

// Kinds of fields that a GpuPolicy has more than once, or that say more than their type.

export const MULTIPLE = ['deny', 'warn', 'allow'] as const;

/** What the API server takes as the value of a label, and as a qualified name: 253 of a domain, a slash, 63. */
export const LONGEST_LABEL = 63;
export const LONGEST_KEY = 317;

/** A quantity may be written as a YAML number (`4096`) as well as a string. */
const text = z.union([z.string(), z.number()], which('is not a quantity')).transform(String);

export const memory = text.transform((value, context) => {
  const mib = mebibytes(value);
  // Without a suffix a quantity is in bytes: 512 would be no reserve at all.
  const bytes = mib === 0 && parseQuantity(value)?.nano !== 0n;
  if (mib !== undefined && !bytes) return mib;
  const message = bytes
    ? `is "${value}", which is less than 1Mi; write a suffix such as Mi or Gi`
    : `is "${value}", which is not a quantity of memory such as 8Gi or 512Mi`;
  context.addIssue({ code: 'custom', message });
  return z.NEVER;
});

/** A limit of 0 means "no limit" to the programs that read it, so a cap can't be that small. */
export const capLimit = memory.refine(
  (mib) => mib >= SMALLEST_CAP_MIB,
  `is less than ${SMALLEST_CAP_MIB}Mi, which no GPU program can start in`,
);

export const amount = text.transform((value, context) => {
  const parsed = capAmount(value);
  if (typeof parsed !== 'string') return parsed;
  context.addIssue({ code: 'custom', message: `is "${value}", which ${parsed}` });
  return z.NEVER;
});

export const profile = z.string().transform((value, context) => {
  const normal = normalProfile(value);
  const problem = profileProblem(normal);
  if (!problem) return normal;
  context.addIssue({
    code: 'custom',
    message: `is "${value}", which ${problem}`,
    params: { code: problemCode(problem) },
  });
  return z.NEVER;
});

export const count = z
  .number()
  .int()
  .min(0)
  .max(2 ** 31 - 1);

export const products = z
  .array(z.string().min(1).max(LONGEST_LABEL))
  .max(64)
  .default([])
  .describe(
    'Products that are meant, as the node label nvidia.com/gpu.product gives them, without -SHARED: pods are kept to such nodes by node affinity. Empty: any product.',
  );

/** Slices can be time-sliced too, with or without a name of their own; the device plugin refuses MPS on them. */
const sharedName = z
  .string()
  .regex(
    /^nvidia\.com\/(gpu(\.shared)?|mig-[0-9]+g\.[0-9]+gb([.-][a-z][a-z0-9.]*)?)$/,
    which(
      'is no resource whose units are shares: nvidia.com/gpu, nvidia.com/gpu.shared, or a MIG name such as nvidia.com/mig-1g.10gb.shared',
    ),
  )
  .superRefine((name, context) => {
    const shared = gpuResource(name)?.profile;
    const problem = shared === undefined ? undefined : profileProblem(shared);
    if (!problem) return;
    const message = `is "${name}": ${shared} ${problem}`;
    context.addIssue({ code: 'custom', message, params: { code: problemCode(problem) } });
  });

/** The block of time-slicing or of MPS; they differ in what is done about several units. */
export const sharedBlock = (sharing: 'time-slicing' | 'mps', multiple: string) =>
  z
    .strictObject({
      resource: (sharing === 'mps' ? z.enum([WHOLE_GPU, SHARED_GPU]) : sharedName)
        .optional()
        .describe(
          `The name under which the nodes offer a share: ${SHARED_GPU} where the device plugin has renameByDefault${sharing === 'mps' ? '' : ', nvidia.com/mig-1g.10gb.shared where it shares slices'}. A pod that asks for ${WHOLE_GPU} is renamed to it. Default: ${WHOLE_GPU}.`,
        ),
      requireSharedNode: z
        .boolean()
        .default(false)
        .describe(
          `Keeps the pods to nodes whose label nvidia.com/gpu.sharing-strategy${sharing === 'mps' ? '' : ' (of shared slices nvidia.com/mig-<profile>.sharing-strategy)'} says ${sharing}, by node affinity.`,
        ),
      products,
      multiple: z
        .enum(MULTIPLE)
        .optional()
        .describe(`What to do with a container that asks for more than one unit of a shared GPU. ${multiple}`),
    })
    .optional()
    .describe(`How GPUs are shared by ${sharing}. Only with sharing: ${sharing}.`);
