import { readFileSync } from 'node:fs';
import { isMap, isScalar, type Pair, parseDocument, type YAMLMap } from 'yaml';
import { z } from 'zod';
import { valuesSchema } from './values.ts';

interface Schema {
  readonly type?: string | readonly string[];
  readonly enum?: readonly string[];
  readonly anyOf?: readonly Schema[];
  readonly properties?: Readonly<Record<string, Schema>>;
}

const VALUES = new URL('../../deploy/chart/gpugate/values.yaml', import.meta.url);

const HEAD = `<!-- Made by \`npm run generate\` from deploy/chart/gpugate/values.yaml and scripts/chart/values.ts. -->
# Values of the chart

A value that isn't listed, or is of another type, is refused by \`helm install\`, \`helm upgrade\`, \`helm lint\` and \`helm template\` with its name
(values.schema.json); so are values that can't work together (templates/_contradictions.tpl). The names are an interface: see [Compatibility](compatibility.md).

| value | type | default | what it does |
| --- | --- | --- | --- |
`;

/** docs/values.md: a row for each value, from the comment above it, its default, and its type in the schema. */
export function valuesPage(): string {
  const document = parseDocument(readFileSync(VALUES, 'utf8'));
  const schema = z.toJSONSchema(valuesSchema, { target: 'draft-7', io: 'input', unrepresentable: 'any' }) as Schema;
  return HEAD + rows(document.contents as YAMLMap, schema, '').join('');
}

function rows(map: YAMLMap, schema: Schema, prefix: string): string[] {
  return map.items.flatMap((pair, index) => {
    const key = (pair as Pair<{ value: string }>).key.value;
    const path = `${prefix}${key}`;
    const at = schema.properties?.[key];
    if (!at) throw new Error(`values.yaml: ${path} is not in the schema`);
    // The comment above the first key of a map is the map's own.
    const about =
      (pair.key as { commentBefore?: string }).commentBefore ?? (index === 0 ? map.commentBefore : undefined);
    if (!about && isMap(pair.value)) return rows(pair.value, at, `${path}.`);
    if (!about) throw new Error(`values.yaml: ${path} has no comment`);
    const text = (about.split('\n\n').at(-1) ?? '')
      .split('\n')
      .map((line) => line.trim())
      .join(' ')
      .replaceAll('|', String.raw`\|`);
    return [`| \`${path}\` | ${typeOf(at)} | ${standard(pair.value)} | ${text} |\n`];
  });
}

function typeOf({ type, enum: values, anyOf }: Schema): string {
  if (values) return values.map((value) => `\`${value}\``).join(', ');
  if (anyOf) return anyOf.map(typeOf).join(' or ');
  const names: Record<string, string> = { array: 'list', object: 'map', integer: 'whole number' };
  return [type ?? 'any']
    .flat()
    .map((name) => names[name] ?? name)
    .join(' or ');
}

function standard(value: unknown): string {
  if (isScalar(value)) return value.value === '' || value.value === null ? '' : `\`${value.value}\``;
  const plain = (value as { toJSON(): unknown }).toJSON();
  return `\`${JSON.stringify(plain)}\``;
}
