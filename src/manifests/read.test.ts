import { expect, it } from 'vitest';
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
  ['YAML of something else', 'replicas: 3\nimage: { tag: 1 }\n', []],
  [
    'an AdmissionReview',
    'apiVersion: admission.k8s.io/v1\nkind: AdmissionReview\nrequest: { object: { apiVersion: v1, kind: Pod } }',
    ['Pod'],
  ],
])('reads %s', (_, text, expected) => {
  expect(kinds(text)).toEqual(expected);
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
