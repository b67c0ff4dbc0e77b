import jsonpatch from 'fast-json-patch';
import { describe, expect, it } from 'vitest';
import type { Change } from './findings.ts';
import { patchOf, pointer } from './patch.ts';

const at = (index = 0, list = 'containers', podPath: readonly string[] = []) => {
  const path = [...podPath, 'spec', list, index];
  return { name: 'train', field: path.join('.'), path };
};
const why = { code: 'GPU110', reason: '', required: true } as const;
const rename: Change = {
  ...why,
  type: 'rename-resource',
  container: at(),
  from: 'nvidia.com/gpu',
  to: 'nvidia.com/mig-1g.10gb',
  quantity: '1',
};
const request: Change = { ...why, type: 'set-request', container: at(), resource: 'nvidia.com/gpu', quantity: '1' };
const drop: Change = { ...why, type: 'drop-resource', container: at(), resource: 'nvidia.com/gpu' };
const env = (name: string, value: string): Change => ({ ...why, type: 'set-env', container: at(), name, value });
const note = (name: string, value: string): Change => ({ ...why, type: 'set-annotation', name, value });
const pod = (container: object, rest: object = {}) => ({ ...rest, spec: { containers: [container] } });
const container = (parts: object) => ({ name: 'train', image: 'x', ...parts });

function applied(object: unknown, ...changes: Change[]): unknown {
  const patch = patchOf(object, changes, []) as jsonpatch.Operation[];
  return jsonpatch.applyPatch(structuredClone(object), patch, true, false).newDocument;
}

describe('patches', () => {
  it.each<[string, object, readonly Change[], object]>([
    [
      'a rename moves limit and request and leaves the rest',
      pod(
        container({
          resources: {
            limits: { cpu: 1, 'nvidia.com/gpu': 1 },
            requests: { 'nvidia.com/gpu': 1 },
            claims: [{ name: 'x' }],
          },
        }),
      ),
      [rename],
      pod(
        container({
          resources: {
            limits: { cpu: 1, 'nvidia.com/mig-1g.10gb': '1' },
            requests: { 'nvidia.com/mig-1g.10gb': '1' },
            claims: [{ name: 'x' }],
          },
        }),
      ),
    ],
    [
      'a rename gives the request that was missing',
      pod(container({ resources: { limits: { 'nvidia.com/gpu': 1 } } })),
      [rename],
      pod(
        container({
          resources: { limits: { 'nvidia.com/mig-1g.10gb': '1' }, requests: { 'nvidia.com/mig-1g.10gb': '1' } },
        }),
      ),
    ],
    [
      'a rename onto a name that stands replaces it',
      pod(container({ resources: { limits: { 'nvidia.com/gpu': 1, 'nvidia.com/mig-1g.10gb': 0 } } })),
      [rename],
      pod(
        container({
          resources: { limits: { 'nvidia.com/mig-1g.10gb': '1' }, requests: { 'nvidia.com/mig-1g.10gb': '1' } },
        }),
      ),
    ],
    [
      'an old name is dropped where it stands',
      pod(container({ resources: { limits: { 'nvidia.com/gpu': 1, 'nvidia.com/mig-1g.10gb': 1 } } })),
      [drop],
      pod(container({ resources: { limits: { 'nvidia.com/mig-1g.10gb': 1 } } })),
    ],
    [
      'parents that are null are made anew',
      pod(container({ resources: { limits: { 'nvidia.com/gpu': 1 }, requests: null } })),
      [request],
      pod(container({ resources: { limits: { 'nvidia.com/gpu': 1 }, requests: { 'nvidia.com/gpu': '1' } } })),
    ],
    [
      'the first variables of a container make its list once',
      pod(container({})),
      [env('A', '1'), env('B', '2')],
      pod(
        container({
          env: [
            { name: 'A', value: '1' },
            { name: 'B', value: '2' },
          ],
        }),
      ),
    ],
    [
      'an empty list of variables is used',
      pod(container({ env: [] })),
      [env('A', '1')],
      pod(container({ env: [{ name: 'A', value: '1' }] })),
    ],
    [
      'a null list is made anew',
      pod(container({ env: null })),
      [env('A', '1')],
      pod(container({ env: [{ name: 'A', value: '1' }] })),
    ],
    [
      'a variable that stands is replaced with its valueFrom',
      pod(
        container({
          env: [
            { name: 'Z', value: '0' },
            { name: 'A', valueFrom: { fieldRef: { fieldPath: 'x' } } },
          ],
        }),
      ),
      [env('A', '1')],
      pod(
        container({
          env: [
            { name: 'Z', value: '0' },
            { name: 'A', value: '1' },
          ],
        }),
      ),
    ],
    [
      'of several entries the last one is replaced, since it counts',
      pod(
        container({
          env: [
            { name: 'A', value: '0' },
            { name: 'A', value: '9' },
          ],
        }),
      ),
      [env('A', '1'), env('B', '2')],
      pod(
        container({
          env: [
            { name: 'A', value: '0' },
            { name: 'A', value: '1' },
            { name: 'B', value: '2' },
          ],
        }),
      ),
    ],
    [
      'annotations are made with their parents',
      pod(container({})),
      [note('gpugate.dev/policy', 'x')],
      pod(container({}), { metadata: { annotations: { 'gpugate.dev/policy': 'x' } } }),
    ],
    [
      'annotations of others stay',
      pod(container({}), { metadata: { annotations: { 'a/b': '1', 'gpugate.dev/policy': 'old' } } }),
      [note('gpugate.dev/policy', 'x')],
      pod(container({}), { metadata: { annotations: { 'a/b': '1', 'gpugate.dev/policy': 'x' } } }),
    ],
  ])('%s', (_, before, changes, after) => {
    const given = structuredClone(before);
    expect(applied(before, ...changes)).toEqual(after);
    expect(before, 'the object itself is not changed').toEqual(given);
  });

  it('stand inside a template', () => {
    const template = ['spec', 'template'];
    const object = { spec: { template: pod(container({ resources: { limits: { 'nvidia.com/gpu': 1 } } })) } };
    const changes: Change[] = [{ ...request, container: at(0, 'containers', template) }, note('a/b~c', 'x')];
    expect(patchOf(object, changes, template)).toEqual([
      { op: 'add', path: '/spec/template/spec/containers/0/resources/requests', value: {} },
      { op: 'add', path: '/spec/template/spec/containers/0/resources/requests/nvidia.com~1gpu', value: '1' },
      { op: 'add', path: '/spec/template/metadata', value: {} },
      { op: 'add', path: '/spec/template/metadata/annotations', value: {} },
      { op: 'add', path: '/spec/template/metadata/annotations/a~1b~0c', value: 'x' },
    ]);
  });

  it('never test, and never remove what is not there', () => {
    const object = pod(container({ resources: { limits: { 'nvidia.com/gpu': 1 } } }));
    const operations = patchOf(object, [rename], []);
    expect(operations.map(({ op, path }) => `${op} ${path}`)).toEqual([
      'remove /spec/containers/0/resources/limits/nvidia.com~1gpu',
      'add /spec/containers/0/resources/limits/nvidia.com~1mig-1g.10gb',
      'add /spec/containers/0/resources/requests',
      'add /spec/containers/0/resources/requests/nvidia.com~1mig-1g.10gb',
    ]);
  });
});

it.each([
  [['a', 0, 'nvidia.com/gpu'], '/a/0/nvidia.com~1gpu'],
  [['~/'], '/~0~1'],
  [['~1'], '/~01'],
  [[''], '/'],
  [[], ''],
])('the pointer of %j is %s', (path, text) => {
  expect(pointer(path)).toBe(text);
});
