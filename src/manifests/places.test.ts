import { expect, it } from 'vitest';
import { placeOfField, placeOfObject } from './places.ts';
import { readManifests } from './read.ts';

const POD = `apiVersion: v1
kind: Pod
metadata: { name: a }
spec:
  containers:
    # the first
    - name: one
      resources:
        limits:
          nvidia.com/gpu: 0.5 # half
          "odd[0].key": 1
    - resources: { limits: { nvidia.com/gpu: "1" } }
`;

function sourceOf(text: string, index = 0) {
  const read = [...readManifests('a.yaml', text)][index];
  if (!read || !('manifest' in read)) throw new Error('no manifest');
  return read.manifest.source;
}

/** The text at a place, as an editor would mark it. */
function marked(text: string, field: string, index = 0): string {
  const place = placeOfField(sourceOf(text, index), field);
  if (!place) return 'no place';
  const lines = text.split('\n');
  if (place.line !== place.endLine) return `${place.line}:${place.column} to ${place.endLine}:${place.endColumn}`;
  return (lines[place.line - 1] ?? '').slice(place.column - 1, place.endColumn - 1);
}

it.each([
  ['a key with its value', 'spec.containers[0].resources.limits[nvidia.com/gpu]', 'nvidia.com/gpu: 0.5'],
  ['a key within braces', 'spec.containers[1].resources.limits[nvidia.com/gpu]', 'nvidia.com/gpu: "1"'],
  ['a key that holds brackets', 'spec.containers[0].resources.limits[odd[0].key]', '"odd[0].key": 1'],
  ['only the key of a field with fields', 'spec.containers[0].resources', 'resources'],
  ['the first line of an item', 'spec.containers[0]', 'name: one'],
  ['the nearest field of one that is missing', 'spec.containers[0].env[2].value', 'name: one'],
  ['the object for a field whose parents are missing', 'status.phase', 'apiVersion: v1'],
])('the place of a field is %s', (_, field, text) => {
  expect(marked(POD, field)).toBe(text);
});

it('lines count from the start of the file, whatever document the object is in', () => {
  const place = placeOfField(
    sourceOf(`# a comment\n---\n${POD}`),
    'spec.containers[0].resources.limits[nvidia.com/gpu]',
  );
  expect(place).toEqual({ file: 'a.yaml', line: 12, column: 11, endLine: 12, endColumn: 30 });
});

it('a field of an item of a List is found under the item', () => {
  const text = JSON.stringify(
    { apiVersion: 'v1', kind: 'PodList', items: [{ metadata: { name: 'a' } }, { metadata: { name: 'b' } }] },
    null,
    2,
  );
  expect(marked(text, 'metadata.name', 1)).toBe('"name": "b"');
});

it('a field behind an alias is where its anchor is', () => {
  const text = `apiVersion: v1
kind: Pod
x: &gpu { limits: { nvidia.com/gpu: 2 } }
spec: { containers: [{ name: c, resources: *gpu }] }
`;
  expect(marked(text, 'spec.containers[0].resources.limits[nvidia.com/gpu]')).toBe('nvidia.com/gpu: 2');
});

it('the place of an object is its first line', () => {
  expect(placeOfObject(sourceOf(`---\n${POD}`))).toMatchObject({ line: 2, column: 1, endLine: 2, endColumn: 15 });
});

it('an alias stands for the last anchor of its name before it', () => {
  const [read] = [
    ...readManifests('a.yaml', 'apiVersion: v1\nkind: Pod\na: &x { k: 1 }\nb: *x\nc: &x { k: 2 }\nd: *x\n'),
  ];
  if (!read || !('manifest' in read)) throw new Error('no manifest');
  expect(['b.k', 'd.k'].map((field) => placeOfField(read.manifest.source, field)?.line)).toEqual([3, 5]);
});
