import { describe, expect, it } from 'vitest';
import { TEMPLATE_KINDS, type TemplateKind, withTemplateKinds } from './template-kinds.ts';
import { hasController, newTemplates, pathSteps, templatesOf } from './templates.ts';

const kind = (...paths: string[]): TemplateKind => ({ group: 'example.com', kind: 'Run', plural: 'runs', paths });
const template = (name: string) => ({ spec: { containers: [{ name }] } });
const places = (object: unknown, ...paths: string[]) =>
  templatesOf(object, kind(...paths)).map(({ path }) => path.join('/'));

describe('a path', () => {
  it.each<[string, readonly string[]]>([
    ['template', ['template']],
    ['spec.template', ['spec', 'template']],
    ['spec.replicaSpecs.*.template', ['spec', 'replicaSpecs', '*', 'template']],
    ['spec.tasks[*].template', ['spec', 'tasks', '[*]', 'template']],
    ['spec.matrix[*][*].template', ['spec', 'matrix', '[*]', '[*]', 'template']],
  ])('%s is read', (path, steps) => expect(pathSteps(path)).toEqual(steps));

  it.each([
    '',
    '.',
    'spec.',
    '.spec',
    'spec..template',
    '*',
    '[*].template',
    'spec.tasks[0].template',
    '$.spec',
    'a b',
    'spec.**.x',
  ])('"%s" is none', (path) => expect(pathSteps(path)).toBeUndefined());
});

describe('the templates of an object', () => {
  it.each<[string, unknown, string[], string[]]>([
    ['stand at a field', { spec: { template: template('a') } }, ['spec.template'], ['spec/template']],
    [
      'stand under every key of a map',
      { spec: { replicas: { Master: { template: template('a') }, Worker: { template: template('b') } } } },
      ['spec.replicas.*.template'],
      ['spec/replicas/Master/template', 'spec/replicas/Worker/template'],
    ],
    [
      'stand in every element of a list',
      { spec: { groups: [{ template: template('a') }, {}, { template: template('b') }] } },
      ['spec.groups[*].template'],
      ['spec/groups/0/template', 'spec/groups/2/template'],
    ],
    [
      'are counted once where two paths meet',
      { spec: { head: { template: template('a') } } },
      ['spec.head.template', 'spec.*.template'],
      ['spec/head/template'],
    ],
    ['may be missing', { spec: {} }, ['spec.template', 'spec.groups[*].template', 'spec.map.*.template'], []],
    ['are not where a map is a list', { spec: { map: [{ template: template('a') }] } }, ['spec.map.*.template'], []],
    [
      'are not where a list is a map',
      { spec: { list: { a: { template: template('a') } } } },
      ['spec.list[*].template'],
      [],
    ],
    ['are not what has no spec', { spec: { template: { metadata: {} } } }, ['spec.template'], []],
    ['are not what is no object', { spec: { template: ['x'] } }, ['spec.template'], []],
    ['are not inherited', { spec: {} }, ['spec.constructor.prototype', 'spec.__proto__.x'], []],
    ['are none of null', null, ['spec.template'], []],
    ['are none of text', 'spec', ['spec.template'], []],
  ])('%s', (_, object, paths, found) => expect(places(object, ...paths)).toEqual(found));

  it('are told apart from a container that a TrainJob describes', () => {
    const trainJob = withTemplateKinds().get('trainer.kubeflow.org/TrainJob') as TemplateKind;
    const resourcesPerNode = { limits: { 'nvidia.com/gpu': 1 } };
    const env = [{ name: 'A', value: 'b' }];
    expect(templatesOf({ spec: { trainer: { resourcesPerNode, env } } }, trainJob)).toEqual([
      {
        path: ['spec', 'trainer'],
        resources: 'resourcesPerNode',
        template: { spec: { containers: [{ name: 'trainer', env, resources: resourcesPerNode }] } },
      },
    ]);
    expect(templatesOf({ spec: { trainer: { numNodes: 1 } } }, trainJob)).toEqual([]);
  });
});

describe('an update', () => {
  const groups = (...names: string[]) => ({ spec: { groups: names.map((name) => ({ template: template(name) })) } });
  const changed = (object: unknown, old: unknown) =>
    newTemplates(object, old, kind('spec.groups[*].template')).map(({ path }) => path.join('/'));

  it.each<[string, unknown, unknown, string[]]>([
    ['of nothing', groups('a', 'b'), groups('a', 'b'), []],
    ['of one template', groups('a', 'c'), groups('a', 'b'), ['spec/groups/1/template']],
    ['that adds one before the others', groups('c', 'a'), groups('a'), ['spec/groups/0/template']],
    ['that takes one away', groups('b'), groups('a', 'b'), []],
    ['of what stands beside', { ...groups('a'), spec: { ...groups('a').spec, replicas: 2 } }, groups('a'), []],
    [
      'of the order of keys',
      { spec: { groups: [{ template: { a: 1, spec: {} } }] } },
      { spec: { groups: [{ template: { spec: {}, a: 1 } }] } },
      [],
    ],
    ['that is no update', groups('a'), null, ['spec/groups/0/template']],
  ])('%s', (_, object, old, found) => expect(changed(object, old)).toEqual(found));
});

it.each([
  ['no owner', undefined, false],
  ['an owner that controls nothing', [{ kind: 'X' }], false],
  ['a controller', [{ kind: 'X' }, { kind: 'Y', controller: true }], true],
  ['owners that are no list', { controller: true }, false],
])('%s', (_, ownerReferences, owned) => expect(hasController({ metadata: { ownerReferences } })).toBe(owned));

describe('the catalogue', () => {
  it.each(TEMPLATE_KINDS.map((entry) => [`${entry.group}/${entry.kind}`, entry] as const))(
    '%s is sound',
    (_, entry) => {
      const { paths, containers = [], plural } = entry;
      expect(paths.length + containers.length).toBeGreaterThan(0);
      for (const path of [...paths, ...containers.map((container) => container.path)])
        expect(pathSteps(path)).toBeDefined();
      expect(plural).toMatch(/^[a-z]+s$/);
      expect(
        TEMPLATE_KINDS.filter(({ group, kind: name }) => group === entry.group && name === entry.kind),
      ).toHaveLength(1);
    },
  );

  it('is added to, and overruled, by a configuration', () => {
    const ray = { group: 'ray.io', kind: 'RayCluster', plural: 'rayclusters', paths: ['spec.x'] };
    const kinds = withTemplateKinds([kind('spec.template'), ray]);
    expect(kinds.size).toBe(TEMPLATE_KINDS.length + 1);
    expect(kinds.get('ray.io/RayCluster')).toBe(ray);
    expect(kinds.get('example.com/Run')).toEqual(kind('spec.template'));
  });
});
