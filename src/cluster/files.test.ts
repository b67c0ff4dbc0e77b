import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { openFiles } from './files.ts';

let dir: string;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'gpugate-files-'));
});
afterEach(() => rm(dir, { recursive: true }));

async function write(name: string, content: string): Promise<string> {
  const file = join(dir, name);
  await writeFile(file, content);
  return file;
}

describe('namespaces from a file', () => {
  const forms: readonly [string, string][] = [
    [
      'documents',
      '# two\n---\n---\napiVersion: v1\nkind: Namespace\nmetadata:\n  name: vision\n  labels: {team: a}\n---\nkind: Namespace\nmetadata: {name: plain}\n',
    ],
    [
      'a List',
      'apiVersion: v1\nkind: List\nitems:\n- kind: Namespace\n  metadata: {name: vision, labels: {team: a}}\n- kind: Namespace\n  metadata: {name: plain, labels: null}\n',
    ],
    [
      'JSON of kubectl get',
      JSON.stringify({
        apiVersion: 'v1',
        kind: 'NamespaceList',
        items: [
          { kind: 'Namespace', metadata: { name: 'vision', labels: { team: 'a' } }, status: { phase: 'Active' } },
          { kind: 'Namespace', metadata: { name: 'plain' } },
        ],
      }),
    ],
  ];
  test.each(forms)('are read from %s', async (_form, content) => {
    const source = await openFiles({ namespaces: await write('namespaces.yaml', content) });
    expect(await source.namespaceLabels('vision')).toEqual({ found: true, labels: { team: 'a' } });
    expect(source.known('plain')).toEqual({});
    expect(await source.namespaceLabels('other')).toEqual({ found: false });
    expect(source.synced()).toBe(true);
  });
});

test('nodes keep labels and allocatable, with numbers as quantities', async () => {
  const nodes = await write(
    'nodes.yaml',
    'kind: Node\nmetadata: {name: a, labels: {nvidia.com/gpu.count: "8"}}\nstatus:\n  allocatable: {nvidia.com/gpu: 8, memory: 1Ti}\n  conditions: []\n---\nkind: Node\nmetadata: {name: b}\n',
  );
  expect((await openFiles({ nodes })).nodes()).toEqual([
    { name: 'a', labels: { 'nvidia.com/gpu.count': '8' }, allocatable: { 'nvidia.com/gpu': '8', memory: '1Ti' } },
    { name: 'b', labels: {}, allocatable: {} },
  ]);
});

describe('a mistake is told with file, line and field', () => {
  const mistakes: readonly [string, string, readonly string[]][] = [
    [
      'a label that is not a string',
      'kind: Namespace\nmetadata:\n  name: a\n  labels:\n    team: 5\n    on: true\n',
      [
        '5: metadata.labels.team is 5, which is not a text; quote it',
        '6: metadata.labels.on is true, which is not a text; quote it',
      ],
    ],
    ['no name', 'kind: Namespace\nmetadata:\n  labels: {}\n', ['3: metadata.name is missing']],
    ['another kind', '---\nkind: Pod\nmetadata: {name: a}\n', ['2: kind is "Pod", which is not Namespace']],
    ['no object', 'just text\n', ['1: kind is missing; it is Namespace']],
    [
      'a name given twice, in a List',
      'kind: List\nitems:\n- kind: Namespace\n  metadata: {name: a}\n- kind: Namespace\n  metadata: {name: a}\n- kind: Namespace\n  metadata: {name: 7}\n',
      ['8: metadata.name is 7, which is not a name', '5: metadata.name is a, which is already at line 3'],
    ],
    ['broken YAML', 'kind: Namespace\nmetadata: {name: a\n', ['3: Flow map in block collection']],
    ['a key given twice', 'kind: Namespace\nkind: Namespace\n', ['2: key "kind" is already set in this map']],
  ];
  test.each(mistakes)('%s', async (_name, content, expected) => {
    const file = await write('namespaces.yaml', content);
    const error = await openFiles({ namespaces: file }).catch((reason) => reason);
    expect(error).toBeInstanceOf(AggregateError);
    const lines = error.errors.map(({ message }: Error) => message);
    expect(lines).toHaveLength(expected.length);
    for (const text of expected) expect(lines).toContainEqual(expect.stringContaining(`${file}:${text}`));
    expect(error.message).toBe(lines.join('\n'));
  });

  test('files that are not there, each of them', async () => {
    const error = await openFiles({ namespaces: '/no/such', nodes: '/none' }).catch((reason) => reason);
    expect(error.message).toBe('/no/such: there is no such file or folder\n/none: there is no such file or folder');
  });
});
