import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { z } from 'zod';
import { CODES, type Code } from '../../src/admission/findings.ts';
import { CAP_VARIABLES } from '../../src/policy/cap-variables.ts';
import capData from '../../src/policy/data/memory-cap-variables.json' with { type: 'json' };
import { readLabels } from '../../src/policy/labels.ts';
import { parseManifest } from '../../src/policy/manifest.ts';
import { resolvePolicy } from '../../src/policy/resolve.ts';
import { gpuPolicySchema } from '../../src/policy/schema.ts';
import { anchorsOf, blocksOf, examplesOf, linksOf, run, tableOf, withBlocks } from './pages.ts';

const DOCS = new URL('../../docs/', import.meta.url).pathname;
const codes = Object.keys(CODES) as Code[];
const read = (page: string) => readFileSync(join(DOCS, page), 'utf8');
const pages = readdirSync(DOCS, { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.md'))
  .sort();
const withExamples = pages.filter((page) => examplesOf(read(page)).length > 0);

/** The text of a cell without its code marks. */
const plain = (cell = '') => cell.replaceAll('`', '');

/** `- Severity: error` of a rule's page. */
function stated(page: string, what: 'Severity' | 'Applies'): string {
  return new RegExp(`^- ${what}: (.+)$`, 'm').exec(page)?.[1] ?? `no line "- ${what}: ..."`;
}

describe('examples give what their pages show', () => {
  it.each(withExamples)('%s', async (page) => {
    const text = read(page);
    const replaced = new Map();
    for (const example of examplesOf(text)) {
      const { said, after } = await run(example);
      expect(
        example.blocks.map(({ info }) => info),
        `${example.heading} shows what is said`,
      ).toContain('text output');
      for (const block of example.blocks) {
        const words = said[block.info];
        if (words !== undefined) replaced.set(block, words);
        if (block.info === 'yaml after') expect(after, `${page}: ${example.heading}`).toMatchObject(parse(block.text));
      }
    }
    // The page itself is the snapshot: `vitest -u` writes new outputs into it.
    await expect(withBlocks(text, replaced)).toMatchFileSnapshot(join(DOCS, page));
  });
});

describe('rules', () => {
  it('has a page for every code, and a code for every page', () => {
    const named = pages.flatMap((page) => /^rules\/(GPU\d+)\.md$/.exec(page)?.[1] ?? []);
    expect(named).toEqual([...codes].sort());
  });

  it.each(codes)('%s: the page has its title, its parts and an example of the rule', async (code) => {
    const text = read(`rules/${code}.md`);
    expect(text.split('\n')[0]).toBe(`# ${code}: ${CODES[code]}`);
    expect([...text.matchAll(/^## (What|Why|Example|How to fix|Related)$/gm)].map(([, part]) => part)).toEqual([
      'What',
      'Why',
      'Example',
      'How to fix',
      'Related',
    ]);
    expect(stated(text, 'Applies')).not.toContain('no line');
    for (const example of examplesOf(text)) {
      const { findings, changes } = (await run(example)).judgement;
      const shown = [
        ...findings.filter((finding) => finding.code === code).map(({ severity }) => severity),
        ...changes.filter((change) => change.code === code).map(() => 'change'),
      ];
      expect(shown.length, `${example.heading} shows ${code}`).toBeGreaterThan(0);
      for (const severity of shown) expect(stated(text, 'Severity')).toContain(severity);
    }
  });

  it('has the table of all rules', async () => {
    const rows = codes.map(
      (code) => `| [${code}](${code}.md) | ${CODES[code]} | ${stated(read(`rules/${code}.md`), 'Severity')} |`,
    );
    const table = ['| code | what | severity |', '| --- | --- | --- |', ...rows].join('\n');
    const index = read('rules/README.md');
    expect(index).toContain('| code | what | severity |\n');
    const made = index.replace(/^\| code [\s\S]*?\n(?!\|)/m, () => `${table}\n`);
    await expect(made).toMatchFileSnapshot(join(DOCS, 'rules/README.md'));
  });
});

/** The fields of a schema by their paths, each with its enum values and its default. */
function* fieldsOf(schema: JsonSchema, path = ''): Iterable<{ path: string; schema: JsonSchema }> {
  for (const [name, field] of Object.entries(schema.properties ?? {})) {
    const here = path === '' ? name : `${path}.${name}`;
    const items = field.items?.properties ? field.items : undefined;
    if (field.properties) yield* fieldsOf(field, here);
    else if (items) yield* fieldsOf(items, `${here}[]`);
    else yield { path: here, schema: field };
  }
}

interface JsonSchema {
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly items?: JsonSchema;
  readonly enum?: readonly string[];
  readonly default?: unknown;
}

describe('policies.md', () => {
  const page = read('policies.md');
  const rows = new Map(
    tableOf(page, 'field').map(([field, type, standard]) => [plain(field), { type, standard: plain(standard) }]),
  );
  const fields = [
    ...fieldsOf(z.toJSONSchema(gpuPolicySchema.shape.spec, { io: 'input', unrepresentable: 'any' }) as JsonSchema),
  ];

  it('has every field of the schema', () => {
    expect([...rows.keys()]).toEqual(fields.map(({ path }) => path));
  });

  it.each(fields)('tells values and default of $path', ({ path, schema }) => {
    const { type = '', standard = '' } = rows.get(path) ?? {};
    for (const value of schema.enum ?? schema.items?.enum ?? []) expect(type).toContain(`\`${value}\``);
    const words = typeof schema.default === 'string' ? schema.default : JSON.stringify(schema.default);
    if (schema.default !== undefined) expect(standard.split(':')[0]).toBe(words);
    else if (path === 'tolerations[].key') expect(standard).toContain('required');
    else expect(standard).not.toBe('');
  });

  it('tells the defaults that a policy gets when it is resolved', () => {
    const spec = gpuPolicySchema.shape.spec.parse({ sharing: 'mps', memoryCap: { amount: 'auto' } });
    const mps = resolvePolicy(
      {},
      new Map([
        ['default', { apiVersion: 'gpugate.dev/v1alpha1', kind: 'GpuPolicy', metadata: { name: 'default' }, spec }],
      ]),
    );
    const timeSlicing = resolvePolicy({ 'gpugate.dev/sharing': 'time-slicing' }, new Map());
    const standard = (field: string) => rows.get(field)?.standard;
    expect(standard('memoryCap.reserve')).toBe(`${mps.memoryCap?.reserveMiB}Mi`);
    expect(standard('memoryCap.frameworks')).toBe(mps.memoryCap?.frameworks.join(', '));
    expect(standard('mps.resource')).toBe(mps.shared?.resource);
    expect(standard('mps.multiple')).toBe(mps.shared?.multiple);
    expect(standard('timeSlicing.resource')).toBe(timeSlicing.shared?.resource);
    expect(standard('timeSlicing.multiple')).toBe(timeSlicing.shared?.multiple);
  });

  it('has every label, and examples whose labels are understood', () => {
    const known = readLabels({ 'gpugate.dev/no-such-label': '' }).warnings[0]?.fix ?? '';
    const labels = tableOf(page, 'label').map(([label]) => plain(label));
    expect(known).toBe(`Known are ${labels.map((label) => label.replace('gpugate.dev/', '')).join(', ')}.`);
    for (const { text } of blocksOf(page).filter(({ info }) => info === 'yaml namespace')) {
      const { problems, warnings } = readLabels(parse(text).metadata.labels);
      expect([...problems, ...warnings]).toEqual([]);
    }
  });

  it('explains every ready-made policy', () => {
    const files = readdirSync(join(DOCS, '../deploy/policies')).map((file) => `../deploy/policies/${file}`);
    expect(
      linksOf(page)
        .filter((link) => link.startsWith('../deploy/policies/'))
        .sort(),
    ).toEqual(files.sort());
  });
});

it.each(pages)('every policy of %s is one', (page) => {
  for (const { info, text } of blocksOf(read(page))) {
    if (info === 'yaml policy') expect(parseManifest(page, text, 'GpuPolicy', gpuPolicySchema).mistakes).toEqual([]);
  }
});

describe('memory-caps.md', () => {
  const rows = tableOf(read('memory-caps.md'), 'variable').map((row) => row.map(plain));

  it('has every variable that gpugate sets', () => {
    expect(rows.map(([name]) => name)).toEqual(CAP_VARIABLES.map(({ name }) => name));
  });

  it.each(CAP_VARIABLES)('$name: for whom, when and how strong', ({ name, set, strength }) => {
    const [, whom, when, kind] = rows.find(([variable]) => variable === name) ?? [];
    const spec = gpuPolicySchema.shape.spec.parse({ sharing: 'time-slicing', memoryCap: { amount: 'auto' } });
    const byDefault = rowsSetByDefault(spec).includes(set);
    expect(when).toBe(
      set === 'neutral' ? 'always' : set === 'mps' ? 'under sharing: mps' : byDefault ? 'by default' : 'opt-in',
    );
    expect(kind?.split(',')[0]).toBe(strength);
    if (set === 'neutral') return;
    expect(whom?.split(':')[0]?.toLowerCase()).toBe(set);
    expect(capData.filter(({ env }) => env === name).flatMap(({ source }) => source)).not.toEqual([]);
  });

  function rowsSetByDefault(spec: z.output<typeof gpuPolicySchema>['spec']): readonly string[] {
    const document = {
      apiVersion: 'gpugate.dev/v1alpha1' as const,
      kind: 'GpuPolicy' as const,
      metadata: { name: 'default' },
      spec,
    };
    return resolvePolicy({}, new Map([['default', document]])).memoryCap?.frameworks ?? [];
  }
});

describe('quantities.md', () => {
  const page = read('quantities.md');
  const vectors: { in: string; apiServerInteger: boolean }[] = JSON.parse(
    readFileSync(new URL('../data/quantities.json', import.meta.url), 'utf8'),
  ).parse;
  const namespace = {
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: { name: 'team-a', labels: { 'gpugate.dev/sharing': 'exclusive' } },
  };

  async function verdict(count: unknown, governed: boolean): Promise<string> {
    const containers = [{ name: 'c', image: 'x', resources: { limits: { 'nvidia.com/gpu': count } } }];
    const input = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p' }, spec: { containers } };
    const given = [
      { info: 'yaml input', value: input },
      ...(governed ? [{ info: 'yaml namespace', value: namespace }] : []),
    ];
    const blocks = given.map(({ info, value }) => ({ info, text: JSON.stringify(value), start: 0, lines: 1 }));
    const { findings } = (await run({ heading: String(count), blocks })).judgement;
    return findings.map(({ code, severity }) => `${code} ${severity}`).join(', ') || 'allowed';
  }

  const json = (cell = '') => JSON.parse(plain(cell)) as unknown;

  it.each(tableOf(page, 'value in the manifest'))(
    '%s arrives as %s, which the API server has %s',
    async (value, arrived, server, free, governed) => {
      expect(await verdict(json(arrived), false)).toBe(free);
      expect(await verdict(json(arrived), true)).toBe(governed);
      const vector = vectors.find((candidate) => candidate.in === json(value));
      if (vector) expect(server).toBe(vector.apiServerInteger ? 'accepted' : 'refused');
    },
  );

  it.each(tableOf(page, 'value in the JSON'))(
    '%s in JSON, which the API server has %s',
    async (value, server, free) => {
      expect(await verdict(json(value), false)).toBe(free);
      const vector = vectors.find((candidate) => candidate.in === json(value));
      if (vector) expect(server).toBe(vector.apiServerInteger ? 'accepted' : 'refused');
    },
  );
});

describe('links', () => {
  it.each(pages)('%s', (page) => {
    for (const link of linksOf(read(page))) {
      const [path = '', anchor] = link.split('#');
      const target = path === '' ? join(DOCS, page) : join(DOCS, dirname(page), path);
      expect(existsSync(target), `${link} is there`).toBe(true);
      if (anchor === undefined || statSync(target).isDirectory()) continue;
      expect(anchorsOf(readFileSync(target, 'utf8')), link).toContain(anchor);
    }
  });

  it('lead from docs/README.md to every page beside it', () => {
    const linked = linksOf(read('README.md'));
    const expected = pages.filter((page) => page !== 'README.md' && /^([^/]+|[^/]+\/README\.md)$/.test(page));
    expect(expected.filter((page) => !linked.includes(page))).toEqual([]);
  });
});
