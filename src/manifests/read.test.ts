import { describe, expect, it } from 'vitest';
import { placeOfField } from './places.ts';
import { readManifests } from './read.ts';

const kinds = (text: string) =>
  [...readManifests('a.yaml', text)].map((read) => ('manifest' in read ? read.manifest.kind : 'unreadable'));

it.each([
  ['several documents', 'apiVersion: v1\nkind: Pod\n---\napiVersion: v1\nkind: Service\n', ['Pod', 'Service']],
  ['JSON', '{"apiVersion": "v1", "kind": "Pod"}', ['Pod']],
  ['JSON that is indented by tabs', '{\n\t"apiVersion": "v1",\n\t"kind": "Pod"\n}', ['Pod']],
  [
    'a List',
    'apiVersion: v1\nkind: List\nitems: [{ apiVersion: v1, kind: Pod }, { apiVersion: v1, kind: Node }]',
    ['Pod', 'Node'],
  ],
  ['a List without items', 'apiVersion: v1\nkind: List\nitems: []', []],
  [
    'a typed list, whose items say no kind',
    'apiVersion: apps/v1\nkind: DeploymentList\nitems: [{ metadata: { name: a } }]',
    ['Deployment'],
  ],
  ['documents of comments, nulls and texts', '# nothing\n---\n---\nnull\n---\na text\n--- [1]\n', []],
  [
    'JSON documents one behind the other',
    '{"apiVersion": "v1", "kind": "Pod", "a": "}{"}\n{"apiVersion": "v1", "kind": "Node"}\n',
    ['Pod', 'Node'],
  ],
  [
    'JSON documents with a line between',
    '{"apiVersion": "v1", "kind": "Pod"}\n---\n{"apiVersion": "v1", "kind": "Node"}',
    ['Pod', 'Node'],
  ],
  ['YAML of something else', 'replicas: 3\nimage: { tag: 1 }\n', []],
  [
    'an AdmissionReview',
    'apiVersion: admission.k8s.io/v1\nkind: AdmissionReview\nrequest: { object: { apiVersion: v1, kind: Pod } }',
    ['Pod'],
  ],
])('reads %s', (_, text, expected) => {
  expect(kinds(text)).toEqual(expected);
});

describe('what is clearly meant to be an object, and is none, is told at its place', () => {
  const SPEC = 'spec: { containers: [{ name: c }] }';
  it.each([
    ['no apiVersion', `kind: Pod\n${SPEC}`, 'has kind Pod and no apiVersion'],
    ['no apiVersion, and little else', 'kind: Deployment\nmetadata: {}', 'has kind Deployment and no apiVersion'],
    [
      'a misspelt apiVersion',
      'apiversion: v1\nkind: Pod',
      'has kind Pod and no apiVersion ("apiversion" is written apiVersion)',
    ],
    ['a number', `apiVersion: 1\nkind: Pod\n${SPEC}`, 'has kind Pod and apiVersion 1, which is no name'],
    ['an empty apiVersion', `apiVersion: ""\nkind: Pod\n${SPEC}`, 'has kind Pod and apiVersion "", which is no name'],
    ['no kind', `apiVersion: v1\n${SPEC}`, 'has apiVersion v1 and no kind'],
    [
      'a template and nothing around it',
      `spec: { template: { ${SPEC} } }`,
      'has containers, no apiVersion and no kind',
    ],
    [
      'a list',
      `- apiVersion: v1\n  kind: Pod\n  metadata: {}`,
      'is a list of objects and no object; put it under the items of a kind: List',
    ],
    ['a List without a version', 'kind: List\nitems: []', 'has kind List and no apiVersion'],
  ])('%s', (_, text, message) => {
    expect([...readManifests('a.yaml', `a: 1\n---\n${text}\n`)]).toEqual([
      { unreadable: { file: 'a.yaml', line: 3, column: 1, message } },
    ]);
  });

  it('an item of a List', () => {
    const reads = [...readManifests('a.yaml', 'apiVersion: v1\nkind: List\nitems:\n  - kind: Pod\n    metadata: {}\n')];
    expect(reads).toEqual([
      { unreadable: { file: 'a.yaml', line: 4, column: 5, message: 'has kind Pod and no apiVersion' } },
    ]);
  });

  it.each([
    ['values of a chart', 'kind: DaemonSet\nimage: { tag: 1 }\nresources: {}'],
    ['a kustomization', 'resources: [a.yaml]\npatches: [{ target: { kind: Deployment } }]'],
    ['a workflow', 'on: push\njobs: { a: { steps: [{ run: ls }], container: { image: x } } }'],
    ['a package', '{"name": "a", "dependencies": {}}'],
    ['a JSON Patch', '- { op: add, path: /spec/containers/0, value: { name: c, image: x } }'],
    ['a playbook', '- hosts: all\n  tasks: [{ k8s: { definition: { kind: Pod } } }]'],
    ['containers of a compose file', 'services: { a: { image: x } }'],
  ])('but not %s', (_, text) => {
    expect([...readManifests('a.yaml', text)]).toEqual([]);
  });
});

it('places and edits of JSON documents one behind the other are those of the file', () => {
  const text = '{\n"apiVersion": "v1", "kind": "Pod"}\n\n {"apiVersion": "v1",\n "kind": "Node"}\n';
  const places = [...readManifests('a.json', text)].map((read) =>
    'manifest' in read ? placeOfField(read.manifest.source, 'kind') : undefined,
  );
  expect(places).toMatchObject([
    { line: 2, column: 21 },
    { line: 5, column: 2 },
  ]);
});

it('JSON documents of which one is broken are told as YAML', () => {
  expect(kinds('{"apiVersion": "v1", "kind": "Pod"}\n{"apiVersion": "v1", }}')).toEqual(['unreadable']);
});

it('a document that is no YAML hides none of the others', () => {
  const [first, second] = [...readManifests('a.yaml', 'a: [1\n---\napiVersion: v1\nkind: Pod\n')];
  expect(first).toMatchObject({
    unreadable: { file: 'a.yaml', line: expect.any(Number), message: expect.any(String) },
  });
  expect(second).toMatchObject({ manifest: { kind: 'Pod' } });
});

it('a key that stands twice is told, as kubectl does', () => {
  const [read] = [...readManifests('a.yaml', 'apiVersion: v1\nkind: Pod\nspec: {}\nspec: {}\n')];
  expect(read).toMatchObject({ unreadable: { line: 4, column: 1 } });
});

it('a template of Helm is told to be rendered first', () => {
  const [read] = [...readManifests('a.yaml', 'apiVersion: v1\nkind: Pod\nmetadata:\n  name: {{ .Values.name }}-a\n')];
  expect(read).toMatchObject({ unreadable: { line: 4, message: expect.stringContaining('helm template') } });
});

it('a template whose braces are YAML is told to be rendered first, too', () => {
  const [read] = [...readManifests('a.yaml', 'apiVersion: v1\nkind: Pod\nspec:\n  gpu: {{ .Values.gpu }}\n')];
  expect(read).toMatchObject({ unreadable: { line: 4, column: 9, message: expect.stringContaining('helm template') } });
});

it('aliases that multiply are an unreadable document, not a full memory', () => {
  const levels = Array.from({ length: 9 }, (_, level) => `l${level + 1}: &l${level + 1} [${`*l${level},`.repeat(9)}]`);
  expect(kinds(`l0: &l0 [x]\n${levels.join('\n')}\napiVersion: v1\nkind: Pod\n`)).toEqual(['unreadable']);
});

it('what stands at an anchor is a value of its own wherever an alias repeats it, as the API server gets it', () => {
  const text = 'apiVersion: v1\nkind: Pod\na: &a { b: [1] }\nc: *a\nd: { <<: *a }\n';
  const [read] = [...readManifests('a.yaml', text)];
  if (!read || !('manifest' in read)) throw new Error('no manifest');
  const { a, c, d } = read.manifest.object as Record<'a' | 'c' | 'd', { b: number[] }>;
  a.b.push(2);
  expect([c, d]).toEqual([{ b: [1] }, { b: [1] }]);
});

it('an alias within its own anchor has no end, and is told', () => {
  const [read] = [...readManifests('a.yaml', 'apiVersion: v1\nkind: Pod\nspec: &s\n  a: 1\n  b: *s\n')];
  expect(read).toEqual({
    unreadable: { file: 'a.yaml', line: 5, column: 6, message: 'The alias *s stands within its own anchor' },
  });
});
