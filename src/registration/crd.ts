import { z } from 'zod';
import { gpuPolicySchema } from '../policy/schema.ts';
import { statusSchema } from '../policy/status.ts';

type Schema = Readonly<Record<string, unknown>> & {
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
  readonly additionalProperties?: Schema | boolean;
};

export const GROUP = 'gpugate.dev';
export const PLURAL = 'gpupolicies';

const COLUMNS = [
  { name: 'Mode', type: 'string', jsonPath: '.spec.mode' },
  { name: 'Sharing', type: 'string', jsonPath: '.spec.sharing' },
  { name: 'Profile', type: 'string', jsonPath: '.spec.mig.profile' },
  { name: 'Cap', type: 'string', jsonPath: '.spec.memoryCap.amount' },
  { name: 'Namespaces', type: 'integer', jsonPath: '.status.namespaces', description: 'Namespaces that it serves.' },
  { name: 'Ready', type: 'string', jsonPath: '.status.conditions[?(@.type=="Ready")].status' },
  { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
  { name: 'Problem', type: 'string', jsonPath: '.status.lastProblem', priority: 1 },
];

/**
 * The CustomResourceDefinition of GpuPolicy, made from the schema that reads it, so that the two can't differ. The API
 * server checks types, enums and bounds; what needs the boards, or two fields at once, is told by policies.validate with
 * every mistake in one message, so there are no CEL rules beside it.
 */
export function gpuPolicyCrd(): object {
  const schema = z.toJSONSchema(gpuPolicySchema, { io: 'input', unrepresentable: 'any' }) as Schema;
  // What stands in the schema of metadata may be of its name alone.
  const name = schema.properties?.metadata?.properties?.name;
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${PLURAL}.${GROUP}`, labels: { 'app.kubernetes.io/name': 'gpugate' } },
    spec: {
      group: GROUP,
      scope: 'Cluster',
      names: {
        kind: 'GpuPolicy',
        listKind: 'GpuPolicyList',
        plural: PLURAL,
        singular: 'gpupolicy',
        shortNames: ['gpol'],
      },
      versions: [
        {
          name: 'v1alpha1',
          served: true,
          storage: true,
          additionalPrinterColumns: COLUMNS,
          subresources: { status: {} },
          schema: {
            openAPIV3Schema: {
              type: 'object',
              description:
                'How GPU requests of namespaces are judged and changed. A namespace names its policy by the label gpugate.dev/policy; one called default serves those without that label.',
              required: ['spec'],
              properties: {
                apiVersion: { type: 'string' },
                kind: { type: 'string' },
                metadata: { type: 'object', properties: { name } },
                spec: structural(schema.properties?.spec ?? {}),
                status: {
                  ...structural(z.toJSONSchema(statusSchema, { io: 'input' }) as Schema),
                  description: 'Written by gpugate.',
                },
              },
            },
          },
        },
      ],
    },
  };
}

/** A JSON schema as the API server takes it (apiextensions, "Specifying a structural schema"). */
function structural(schema: Schema): Schema {
  const { $schema, const: _, propertyNames, additionalProperties, default: standard, description, ...rest } = schema;
  const described = typeof description !== 'string' ? {} : { description: withDefault(description, standard) };
  if (Array.isArray(rest.type)) return { ...described, anyOf: INT_OR_STRING, 'x-kubernetes-int-or-string': true };
  const { properties, items } = rest;
  const values = typeof additionalProperties === 'object' && !properties ? additionalProperties : undefined;
  return {
    ...described,
    ...bounds(rest),
    ...(isEmpty(standard) ? {} : { default: standard }),
    ...(properties
      ? { properties: Object.fromEntries(Object.entries(properties).map(([name, at]) => [name, structural(at)])) }
      : {}),
    ...(items ? { items: structural(items) } : {}),
    ...(values ? { additionalProperties: structural(values) } : {}),
  };
}

/** `kubectl explain` prints no defaults. */
function withDefault(description: string, standard: unknown): string {
  return isEmpty(standard) ? description : `${description} Default: ${String(standard)}.`;
}

/** The only union of the schema: a quantity, which may be written as a number too. */
const INT_OR_STRING = [{ type: 'integer' }, { type: 'string' }];

/** Go wants the width of an integer, of which JavaScript's own bounds say no more. A pattern is told better by policies.validate. */
function bounds({ maximum, minimum, pattern, ...rest }: Schema): Schema {
  if (rest.type !== 'integer') return rest;
  const wide = maximum === Number.MAX_SAFE_INTEGER;
  return {
    ...rest,
    format: wide ? 'int64' : 'int32',
    ...(minimum === Number.MIN_SAFE_INTEGER ? {} : { minimum }),
    ...(wide ? {} : { maximum }),
  };
}

/** An empty list or object as a default would only be noise in what is stored. */
function isEmpty(standard: unknown): boolean {
  return standard === undefined || (typeof standard === 'object' && Object.keys(standard ?? {}).length === 0);
}
