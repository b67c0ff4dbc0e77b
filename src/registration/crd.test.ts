import { describe, expect, it } from 'vitest';
import { gpuPolicySchema, MODES } from '../policy/schema.ts';
import { gpuPolicyCrd } from './crd.ts';

interface Node {
  readonly type?: string;
  readonly description?: string;
  readonly default?: unknown;
  readonly enum?: readonly unknown[];
  readonly properties?: Readonly<Record<string, Node>>;
  readonly items?: Node;
  readonly additionalProperties?: Node | boolean;
  readonly 'x-kubernetes-int-or-string'?: boolean;
}

const crd = gpuPolicyCrd() as {
  readonly spec: { readonly versions: readonly [{ readonly schema: { readonly openAPIV3Schema: Node } }] };
};
const root = crd.spec.versions[0].schema.openAPIV3Schema;

function* nodesOf(node: Node, path: string): Iterable<readonly [string, Node]> {
  yield [path, node];
  for (const [name, at] of Object.entries(node.properties ?? {})) yield* nodesOf(at, `${path}.${name}`);
  if (node.items) yield* nodesOf(node.items, `${path}[]`);
  if (typeof node.additionalProperties === 'object') yield* nodesOf(node.additionalProperties, `${path}{}`);
}
const nodes = ['spec', 'status'].flatMap((name) => [...nodesOf(root.properties?.[name] ?? {}, name)]);
const fields = nodes.filter(([path]) => !/(\[\]|\{\})$/.test(path));
const at = (path: string) => new Map(nodes).get(path);

describe('the CRD is what the API server takes', () => {
  it.each(nodes)('%s is structural', (_, node) => {
    expect(node.type !== undefined || node['x-kubernetes-int-or-string'] === true).toBe(true);
    expect(node.additionalProperties).not.toBe(false);
    for (const key of ['$ref', '$schema', 'const', 'propertyNames', 'oneOf']) expect(node).not.toHaveProperty(key);
  });

  it('a quantity may be a number', () => {
    expect(at('spec.memoryCap.amount')).toMatchObject({ 'x-kubernetes-int-or-string': true });
  });
});

describe('what kubectl explain prints', () => {
  it.each(fields)('%s is described', (_, node) => {
    expect(node.description).toMatch(/^["A-Z].*\.$/);
  });

  it.each(fields.filter(([, node]) => node.default !== undefined))('%s tells its default', (_, node) => {
    expect(node.description).toContain(`Default: ${node.default}.`);
  });
});

describe('the CRD and the schema agree', () => {
  it('on enums and defaults', () => {
    expect(at('spec.mode')).toMatchObject({ enum: MODES, default: 'enforce' });
    expect(at('spec.locked[]')?.enum).toContain('migProfile');
  });

  it('what the API server fills in is what the schema would', () => {
    const filled = (node: Node | undefined): unknown =>
      Object.fromEntries(
        Object.entries(node?.properties ?? {}).flatMap(([name, { default: standard }]) =>
          standard === undefined ? [] : [[name, standard]],
        ),
      );
    const parse = (spec: unknown) => gpuPolicySchema.shape.spec.parse(spec);
    expect(parse(filled(at('spec')))).toEqual(parse({}));
    expect(parse({ sharing: 'mig', mig: { profile: '1g.10gb', ...(filled(at('spec.mig')) as object) } })).toEqual(
      parse({ sharing: 'mig', mig: { profile: '1g.10gb' } }),
    );
  });
});
