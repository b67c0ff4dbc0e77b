import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { PatchOperation } from '../admission/patch.ts';
import { openScenario } from '../scenarios/open.ts';
import { scenarioFolders } from '../scenarios/run.ts';
import { edit } from './edit.ts';
import { readManifests } from './read.ts';
import { spliced } from './spliced.ts';

function manifestOf(text: string, index = 0) {
  const read = [...readManifests('a.yaml', text)][index];
  if (!read || !('manifest' in read)) throw new Error('no manifest');
  return read.manifest;
}

function edited(text: string, operations: readonly PatchOperation[], index = 0): string | undefined {
  const { source, object } = manifestOf(text, index);
  const { splices } = edit(source, object, operations);
  return splices && spliced(text, splices);
}

const RENAME: readonly PatchOperation[] = [
  { op: 'remove', path: '/limits/nvidia.com~1gpu' },
  { op: 'add', path: '/limits/nvidia.com~1mig-1g.10gb', value: '1' },
];
const HEAD = 'apiVersion: v1\nkind: Pod\n';

it.each<[string, string, readonly PatchOperation[], string]>([
  [
    'a renamed key keeps its value, its comment and its place',
    'limits:\n    nvidia.com/gpu: 1   # the whole of it\n    cpu: 2\n',
    RENAME,
    'limits:\n    nvidia.com/mig-1g.10gb: 1   # the whole of it\n    cpu: 2\n',
  ],
  [
    'a renamed key keeps its quotes',
    'limits: { "nvidia.com/gpu": 1 }\n',
    RENAME,
    'limits: { "nvidia.com/mig-1g.10gb": 1 }\n',
  ],
  [
    'a renamed key with another value',
    'limits: { nvidia.com/gpu: 2 }\n',
    [RENAME[0] as PatchOperation, { op: 'add', path: '/limits/a', value: '1' }],
    'limits: { a: "1" }\n',
  ],
  [
    'a new key stands behind the last one, before its comments',
    'a:\n  b: 1 # one\n\n# about c\nc: 2\n',
    [{ op: 'add', path: '/a/d', value: true }],
    'a:\n  b: 1 # one\n  d: true\n\n# about c\nc: 2\n',
  ],
  [
    'new parents are written with what they hold',
    'a: 1\n',
    [
      { op: 'add', path: '/b', value: {} },
      { op: 'add', path: '/b/c', value: [] },
      { op: 'add', path: '/b/c/-', value: { name: 'x', value: '1' } },
    ],
    'a: 1\nb:\n  c:\n    - name: x\n      value: "1"\n',
  ],
  [
    'an empty field is filled, with the comment behind it kept',
    'env: # none yet\nb: 1\n',
    [
      { op: 'add', path: '/env', value: [] },
      { op: 'add', path: '/env/-', value: { name: 'x' } },
    ],
    'env: # none yet\n  - name: x\nb: 1\n',
  ],
  [
    'empty braces are filled',
    'resources: {}\nb: 1\n',
    [
      { op: 'add', path: '/resources/limits', value: {} },
      { op: 'add', path: '/resources/limits/cpu', value: 1 },
    ],
    'resources:\n  limits:\n    cpu: 1\nb: 1\n',
  ],
  [
    'a new item is indented as the others are',
    'env:\n- name: a\n  value: "1"\nb: 1\n',
    [{ op: 'add', path: '/env/-', value: { name: 'c', value: '2' } }],
    'env:\n- name: a\n  value: "1"\n- name: c\n  value: "2"\nb: 1\n',
  ],
  [
    'a new item within brackets',
    'tolerations: [{ key: a }] # one\n',
    [{ op: 'add', path: '/tolerations/-', value: { key: 'b', operator: 'Exists' } }],
    'tolerations: [{ key: a }, { key: b, operator: Exists }] # one\n',
  ],
  [
    'of an item that is replaced only what differs',
    'env:\n  - name: A # mine\n    valueFrom: { fieldRef: { fieldPath: x } }\n  - name: B\n    value: "0.9" # much\n',
    [
      { op: 'replace', path: '/env/0', value: { name: 'A', value: '1' } },
      { op: 'replace', path: '/env/1', value: { name: 'B', value: '0.5' } },
    ],
    'env:\n  - name: A # mine\n    value: "1"\n  - name: B\n    value: "0.5" # much\n',
  ],
  [
    'behind a text of several lines',
    'a:\n  script: |\n    one\n    two\nb: 1\n',
    [{ op: 'add', path: '/a/c', value: 'x' }],
    'a:\n  script: |\n    one\n    two\n  c: x\nb: 1\n',
  ],
  [
    'a new key stands behind the comments of what is before it',
    'a:\n  b:\n    c: 1\n    # after c\n\n    # and more\n  # about d\nd: 2\n',
    [{ op: 'add', path: '/a/e', value: 3 }],
    'a:\n  b:\n    c: 1\n    # after c\n\n    # and more\n  e: 3\n  # about d\nd: 2\n',
  ],
  [
    'a new item stands behind the comments of what is before it',
    'a:\n  - b: 1\n    # after b\n  # about the list\nd: 2\n',
    [{ op: 'add', path: '/a/-', value: 3 }],
    'a:\n  - b: 1\n    # after b\n  - 3\n  # about the list\nd: 2\n',
  ],
  [
    'a new item of a list right below its key stands before a new key behind that list',
    'a:\n  b:\n  - 1\nd: 2\n',
    [
      { op: 'add', path: '/a/e', value: 3 },
      { op: 'add', path: '/a/b/-', value: 4 },
    ],
    'a:\n  b:\n  - 1\n  - 4\n  e: 3\nd: 2\n',
  ],
  [
    'a new key within braces stands behind the comment of what is before it',
    'a: {\n  b: { c: 1 } # b\n}\n',
    [{ op: 'add', path: '/a/d', value: 2 }],
    'a: {\n  b: { c: 1 }, # b\n  d: 2\n}\n',
  ],
  [
    'a new key within braces that end with a comma',
    'a: {\n  b: { c: 1 }, # b\n}\n',
    [{ op: 'add', path: '/a/d', value: 2 }],
    'a: {\n  b: { c: 1 }, # b\n  d: 2,\n}\n',
  ],
  [
    'new maps are indented as the others are, whatever the file begins with',
    'items:\n  - a: 1\n    b:\n      c: 1\n',
    [
      { op: 'add', path: '/items/0/d', value: { e: 1 } },
      { op: 'add', path: '/items/0/f', value: [1] },
    ],
    'items:\n  - a: 1\n    b:\n      c: 1\n    d:\n      e: 1\n    f:\n      - 1\n',
  ],
  [
    'new maps are indented by four where the others are',
    'x:\n- a: 1\n  b:\n      c: 1\n',
    [{ op: 'add', path: '/x/0/d', value: { e: { f: 1 } } }],
    'x:\n- a: 1\n  b:\n      c: 1\n  d:\n      e:\n          f: 1\n',
  ],
  ['the last key of a map', 'a:\n  b: 1\n  c: 2 # two\nd: 3\n', [{ op: 'remove', path: '/a/c' }], 'a:\n  b: 1\nd: 3\n'],
  ['the only key of a map', 'a:\n  b: 1\nd: 3\n', [{ op: 'remove', path: '/a/b' }], 'a:\n  {}\nd: 3\n'],
  ['a file without a newline at its end', 'a: 1', [{ op: 'add', path: '/b', value: 2 }], 'a: 1\nb: 2'],
])('%s', (_, before, operations, after) => {
  expect(edited(HEAD + before, operations)).toBe(HEAD + after);
});

it('line ends of Windows stay', () => {
  const text = 'apiVersion: v1\r\nkind: Pod\r\nmetadata:\r\n  name: a # x\r\n';
  expect(edited(text, [{ op: 'add', path: '/metadata/annotations', value: { b: 'c' } }])).toBe(
    `${text}  annotations:\r\n    b: c\r\n`.replace('# x\r\n  ', '# x\r\n  '),
  );
});

it('JSON keeps its indentation, its order and its short lines', () => {
  const text = `{
    "kind": "Pod", "apiVersion": "v1",
    "spec": {
        "containers": [
            { "name": "c", "resources": { "limits": { "nvidia.com/gpu": 1 } } }
        ]
    },
    "metadata": {
        "name": "a"
    }
}
`;
  const limits = '/spec/containers/0/resources/limits';
  const after = edited(text, [
    { op: 'remove', path: `${limits}/nvidia.com~1gpu` },
    { op: 'add', path: `${limits}/nvidia.com~1mig-1g.10gb`, value: '1' },
    { op: 'add', path: '/metadata/annotations', value: {} },
    { op: 'add', path: '/metadata/annotations/a', value: 'b' },
  ]);
  expect(after).toBe(
    text
      .replace('nvidia.com/gpu', 'nvidia.com/mig-1g.10gb')
      .replace('"a"\n', '"a",\n        "annotations": {\n            "a": "b"\n        }\n'),
  );
  expect(JSON.parse(after ?? '')).toMatchObject({ metadata: { annotations: { a: 'b' } } });
});

it('JSON that is indented by tabs stays so', () => {
  const text = '{\n\t"kind": "Pod",\n\t"apiVersion": "v1",\n\t"a": {\n\t\t"b": [\n\t\t\t{}\n\t\t]\n\t}\n}\n';
  const after = edited(text, [
    { op: 'add', path: '/a/b/0/c', value: 1 },
    { op: 'add', path: '/a/d', value: { e: [1] } },
  ]);
  expect(after).toBe(
    `${JSON.stringify({ kind: 'Pod', apiVersion: 'v1', a: { b: [{ c: 1 }], d: { e: [1] } } }, null, '\t')}\n`,
  );
});

it('an object in the midst of a file is edited there', () => {
  const text = `${HEAD}a: 1\n---\n${HEAD}a: 2\n---\n${HEAD}a: 3\n`;
  expect(edited(text, [{ op: 'add', path: '/b', value: 9 }], 1)).toBe(text.replace('a: 2\n', 'a: 2\nb: 9\n'));
});

it('what stands at an anchor is not edited, since other places share it', () => {
  const text = `${HEAD}x: &gpu { nvidia.com/gpu: 1 }\nlimits: *gpu\nother: *gpu\n`;
  const { source, object } = manifestOf(text);
  const { splices, diff } = edit(source, object, RENAME);
  expect(splices).toBeUndefined();
  expect(diff).toContain('+  nvidia.com/mig-1g.10gb: 1');
});

describe('at an anchor', () => {
  const SHARED = `${HEAD}a: { limits: &gpu { nvidia.com/gpu: 1 } } # one\nb: { limits: *gpu }\n`;
  const renameAt = (path: string) => RENAME.map((operation) => ({ ...operation, path: `${path}${operation.path}` }));

  it.each([
    ['in the order of the text', ['/a', '/b']],
    ['the alias first', ['/b', '/a']],
  ])('an edit that all its aliases get too is made once: %s', (_, paths) => {
    expect(edited(SHARED, paths.flatMap(renameAt))).toBe(SHARED.replace('nvidia.com/gpu', 'nvidia.com/mig-1g.10gb'));
  });

  it('new parents are written there once', () => {
    const text = `${HEAD}a: &r\n  requests: { gpu: 1 } # one\nb: *r\n`;
    const add = (path: string): readonly PatchOperation[] => [
      { op: 'add', path: `${path}/limits`, value: {} },
      { op: 'add', path: `${path}/limits/gpu`, value: 1 },
    ];
    expect(edited(text, [...add('/a'), ...add('/b')])).toBe(text.replace('# one\n', '# one\n  limits:\n    gpu: 1\n'));
  });

  it.each(['/a', '/b'])('an edit of %s alone is none, since the other would get it too', (path) => {
    const { source, object } = manifestOf(SHARED);
    const { splices, diff } = edit(source, object, renameAt(path));
    expect(splices).toBeUndefined();
    expect(diff.match(/^[-+]/gm), 'only one of both differs').toHaveLength(2);
  });

  it.each(['{ nvidia.com/gpu: 1 }', '\n        nvidia.com/gpu: 1'])(
    'an edit that other objects of the List would get is none: %j',
    (limits) => {
      const text = `apiVersion: v1
kind: List
items:
  - apiVersion: v1
    kind: Pod
    limits: &gpu ${limits}
    c: 1
  - { apiVersion: v1, kind: Pod, limits: *gpu }`;
      expect(edited(text, RENAME, 0)).toBeUndefined();
      expect(edited(text, [{ op: 'add', path: '/limits/b', value: 1 }], 0)).toBeUndefined();
      expect(edited(text, RENAME, 1)).toBeUndefined();
      expect(edited(text, [{ op: 'add', path: '/b', value: 1 }], 0)).toBe(text.replace('c: 1', 'c: 1\n    b: 1'));
    },
  );
});

it('what would not read back as the object with the patch is not written', () => {
  // Without its last line `a:` would be null, not empty.
  const { source, object } = manifestOf(`${HEAD}a:\n  b: 1\n  c: 2\n`);
  const { splices, diff } = edit(source, object, [
    { op: 'remove', path: '/a/b' },
    { op: 'remove', path: '/a/c' },
  ]);
  expect(splices).toBeUndefined();
  expect(diff).toContain('+a: {}');
});

it('a hunk has the line numbers of the file', () => {
  const text = `# one\n---\n# three\n${HEAD}a: 1\n`;
  const { source, object } = manifestOf(text);
  expect(edit(source, object, [{ op: 'replace', path: '/a', value: 2 }]).diff).toBe(
    '@@ -4,3 +4,3 @@\n apiVersion: v1\n kind: Pod\n-a: 1\n+a: 2\n',
  );
});

it('of a file in one line only the object is shown', () => {
  const items = Array.from({ length: 200 }, (_, index) => ({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: `pod-${index}` },
  }));
  const { source, object } = manifestOf(JSON.stringify({ apiVersion: 'v1', kind: 'List', items }), 7);
  const { splices, diff } = edit(source, object, [{ op: 'add', path: '/metadata/labels', value: { a: 'b' } }]);
  expect(spliced(source.text, splices ?? [])).toContain('{"name":"pod-7", "labels": {"a":"b"}}');
  expect(diff).toBe(
    '@@ -1,4 +1,6 @@\n apiVersion: v1\n kind: Pod\n metadata:\n   name: pod-7\n+  labels:\n+    a: b\n',
  );
});

const SCENARIOS = await scenarioFolders([new URL('../../test/scenarios', import.meta.url).pathname]);

it('every patch of the scenarios can be written into the text, which reads back as the patched object', async () => {
  const unwritten: string[] = [];
  let written = 0;
  for (const folder of SCENARIOS) {
    const { ask } = await openScenario(folder);
    const { source, object } = manifestOf(readFileSync(join(folder, 'input.yaml'), 'utf8'));
    const { patch } = (await ask('mutate', object)).answer;
    if (!patch || patch.some(({ path }) => path === '/spec/template')) continue;
    if (edit(source, object, patch).splices) written += 1;
    else unwritten.push(folder);
  }
  expect(unwritten).toEqual([]);
  expect(written).toBeGreaterThan(50);
});
