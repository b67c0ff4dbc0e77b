import { z } from 'zod';

/** How many namespaces are named in a status: enough to see who is meant, and a bound for the object. */
export const MOST_NAMES = 10;
/** As the API convention for condition messages allows; far below in practice. */
export const LONGEST_PROBLEM = 1024;

/** The status of a GpuPolicy, as gpugate writes it. */
export const statusSchema = z.object({
  observedGeneration: z.number().int().optional().describe('The metadata.generation that this status speaks of.'),
  namespaces: z.number().int().min(0).optional().describe('How many namespaces the policy serves.'),
  namespaceNames: z
    .array(z.string().max(63))
    .max(MOST_NAMES)
    .optional()
    .describe(`The first ${MOST_NAMES} of them by name.`),
  lastProblem: z
    .string()
    .max(LONGEST_PROBLEM)
    .optional()
    .describe(
      'What is wrong with the policy, or else with the labels of a namespace that it serves. Absent when nothing is.',
    ),
  conditions: z
    .array(
      z.object({
        type: z.string().max(316).describe('Ready: pods are judged by this policy.'),
        status: z.enum(['True', 'False', 'Unknown']).describe('Whether it is so.'),
        observedGeneration: z.number().int().optional().describe('The metadata.generation that was looked at.'),
        lastTransitionTime: z.iso.datetime().describe('When the status of the condition changed.'),
        reason: z
          .string()
          .min(1)
          .max(1024)
          .describe('Understood, or NotUnderstood: then GPU pods of its namespaces are refused.'),
        message: z.string().max(LONGEST_PROBLEM).describe('The problems, each with its field.'),
      }),
    )
    .max(8)
    .optional()
    .describe('Ready, for kubectl wait --for=condition=Ready.'),
});

export type PolicyStatus = z.output<typeof statusSchema>;
