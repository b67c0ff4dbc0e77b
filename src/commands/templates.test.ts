import { describe, expect, it } from 'vitest';
import { parseTemplateKinds } from './templates.ts';

const read = (text: string) => parseTemplateKinds('kinds.yaml', text);
const mistakes = (text: string) => {
  try {
    read(text);
  } catch (error) {
    return (error as Error).message.split('\n');
  }
  return [];
};

describe('a file of further kinds', () => {
  it('is a list', () => {
    const text = `
- group: example.com
  kind: TrainingRun
  plural: trainingruns
  paths:
    - spec.workers[*].template
    - spec.roles.*.template
  runsOnce: true
- {group: serving.example.com, kind: Model, plural: models, paths: [spec.template]}
`;
    expect(read(text)).toEqual([
      {
        group: 'example.com',
        kind: 'TrainingRun',
        plural: 'trainingruns',
        paths: ['spec.workers[*].template', 'spec.roles.*.template'],
        runsOnce: true,
      },
      { group: 'serving.example.com', kind: 'Model', plural: 'models', paths: ['spec.template'] },
    ]);
  });

  it('may be an empty list', () => expect(read('[]')).toEqual([]));

  it.each<[string, string, readonly string[]]>([
    [
      'is no list',
      'group: x',
      ['kinds.yaml:1: is not a list; write one entry with group, kind, plural and paths a kind'],
    ],
    ['is empty', '', ['kinds.yaml:1: is not a list; write one entry with group, kind, plural and paths a kind']],
    [
      'has a path that is none',
      '- group: a.io\n  kind: A\n  plural: as\n  paths:\n    - spec.template\n    - spec.tasks[0].template\n',
      [
        'kinds.yaml:6: [0].paths[1] is "spec.tasks[0].template", which is no path; write one such as spec.template, spec.replicaSpecs.*.template or spec.tasks[*].template',
      ],
    ],
    [
      'lacks a field and has one too many',
      '- kind: A\n  group: a.io\n  paths: [spec.template]\n  path: x\n',
      [
        'kinds.yaml:1: [0].plural is missing; it is a text',
        'kinds.yaml:4: [0].path is not a field that gpugate knows. Did you mean paths?',
      ],
    ],
    [
      'names fields wrongly',
      '- {group: A.io, kind: a, plural: As, paths: []}',
      [
        'kinds.yaml:1: [0].group is "A.io", which is no API group such as example.com',
        'kinds.yaml:1: [0].kind is "a", which is no kind such as TrainingRun',
        'kinds.yaml:1: [0].plural is "As", which is no resource such as trainingruns, in small letters',
        'kinds.yaml:1: [0].paths is empty; name the fields that hold pod templates',
      ],
    ],
    [
      'names a kind of the API server',
      '- {group: apps, kind: Deployment, plural: deployments, paths: [spec.template]}',
      ['kinds.yaml:1: [0].kind is Deployment, which is built in; its templates are known'],
    ],
    [
      'names the Pod',
      '- {group: "", kind: Pod, plural: pods, paths: [spec.template]}',
      ['kinds.yaml:1: [0].kind is Pod, which is judged itself; it holds no template'],
    ],
    [
      'names a kind twice',
      '- {group: a.io, kind: A, plural: as, paths: [spec.a]}\n- {group: a.io, kind: A, plural: as, paths: [spec.b]}\n',
      ['kinds.yaml:2: [1].kind is A of a.io, which is already at line 1'],
    ],
  ])('%s', (_, text, want) => expect(mistakes(text)).toEqual(want));

  it('is no YAML', () => expect(mistakes('- {group: [')[0]).toMatch(/^kinds\.yaml:1: /));
});
