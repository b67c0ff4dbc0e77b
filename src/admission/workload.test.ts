import { describe, expect, it } from 'vitest';
import type { EffectivePolicy, Mode, Templates } from '../policy/policy.ts';
import { governed, labelled } from './rules/testing.ts';
import { type TemplateKind, withTemplateKinds } from './template-kinds.ts';
import { decideWorkload } from './workload.ts';

const SNAPSHOT = { nodes: [], gpuResources: [] };
const kinds = withTemplateKinds();
const deployment = kinds.get('apps/Deployment') as TemplateKind;
const pytorchJob = kinds.get('kubeflow.org/PyTorchJob') as TemplateKind;

const template = (limits: object) => ({ spec: { containers: [{ name: 'c', image: 'x', resources: { limits } }] } });
const ofDeployment = (limits: object) => ({ spec: { template: template(limits) } });
const ofPytorchJob = (...each: object[]) => ({
  spec: {
    pytorchReplicaSpecs: Object.fromEntries(each.map((limits, index) => [`R${index}`, { template: template(limits) }])),
  },
});
const half = { 'nvidia.com/gpu': '500m' };
const one = { 'nvidia.com/gpu': '1' };
const many = { 'nvidia.com/gpu': '8' };

const mig = (templates: Templates, mode: Mode = 'enforce') =>
  governed({ mode, templates, sharing: 'mig', mig: { profile: '1g.10gb' }, maxGpus: { perPod: 2 } });

function asked(webhook: 'mutate' | 'validate', kind: TemplateKind, object: unknown, policy: EffectivePolicy) {
  const { decision, patch } = decideWorkload(webhook, { kind, object }, policy, SNAPSHOT);
  const codes = (items: readonly { readonly code: string }[]) => items.map(({ code }) => code);
  const { allowed, denials, warnings, changes, announced, findings } = decision;
  return {
    allowed,
    denials: codes(denials),
    warnings: codes(warnings),
    changes: [...new Set(codes(changes))],
    announced: [...new Set(codes(announced))],
    findings: codes(findings),
    patched: patch.length > 0,
  };
}

const silent = { allowed: true, denials: [], warnings: [], changes: [], announced: [], findings: [], patched: false };

describe('the mutating webhook', () => {
  it.each<[string, TemplateKind, object, EffectivePolicy, object]>([
    ['says nothing of a template that is only previewed', deployment, ofDeployment(one), mig('warn'), {}],
    ['leaves what only warns to the preview', deployment, ofDeployment(many), mig('warn'), {}],
    ['refuses what the API server would refuse', deployment, ofDeployment(half), mig('warn'), { denials: ['GPU002'] }],
    ['refuses that in audit mode too', deployment, ofDeployment(half), mig('warn', 'audit'), { denials: ['GPU002'] }],
    ['is silent where templates are off', deployment, ofDeployment(half), mig('off'), {}],
    ['knows that no API server looks into a custom resource', pytorchJob, ofPytorchJob(half), mig('warn'), {}],
    ['refuses where the policy says deny', pytorchJob, ofPytorchJob(one, half), mig('deny'), { denials: ['GPU002'] }],
    [
      'refuses where the policy says mutate',
      pytorchJob,
      ofPytorchJob(many, one),
      mig('mutate'),
      { denials: ['GPU102', 'GPU112'] },
    ],
    ['does not refuse in warn mode', pytorchJob, ofPytorchJob(many), mig('mutate', 'warn'), {}],
    ['changes nothing in warn mode', deployment, ofDeployment(one), mig('mutate', 'warn'), {}],
    ['changes nothing in audit mode', deployment, ofDeployment(one), mig('mutate', 'audit'), {}],
    [
      'changes where the policy says mutate',
      pytorchJob,
      ofPytorchJob(one, one),
      mig('mutate'),
      { changes: ['GPU110'], patched: true },
    ],
  ])('%s', (_, kind, object, policy, want) => {
    const { findings, ...said } = asked('mutate', kind, object, policy);
    const allowed = !('denials' in want);
    expect(said).toEqual({ ...silent, allowed, ...want, findings: undefined });
    if (allowed) expect(findings, 'records are the preview’s').toEqual([]);
  });

  it('tells in one refusal what the preview would have warned of', () => {
    const both = {
      spec: {
        template: { spec: { containers: [template(half), template(many)].map(({ spec }) => spec.containers[0]) } },
      },
    };
    expect(asked('mutate', deployment, both, mig('warn'))).toMatchObject({
      denials: ['GPU002'],
      warnings: ['GPU102', 'GPU112'],
    });
    expect(asked('mutate', deployment, both, mig('warn', 'audit'))).toMatchObject({
      denials: ['GPU002'],
      warnings: [],
    });
  });
});

it('puts nothing back where nothing would be changed', () => {
  const old = {
    spec: { template: { metadata: { annotations: { 'gpugate.dev/policy': 'tested' } }, ...template(one) } },
  };
  const env = [{ name: 'NVIDIA_GPU_MEMORY_LIMIT', value: '1' }];
  const live = structuredClone(old) as { spec: { template: { spec: { containers: object[] } } } };
  live.spec.template.spec.containers = [{ ...live.spec.template.spec.containers[0], env }];
  for (const [mode, put] of [
    ['enforce', 1],
    ['warn', 0],
    ['audit', 0],
  ] as const) {
    const request = { kind: deployment, object: old, oldObject: live };
    expect(decideWorkload('mutate', request, governed({ mode, templates: 'mutate' }), SNAPSHOT).patch).toHaveLength(
      put,
    );
  }
});

it('a TrainJob is refused or announced, and never said to be changed', () => {
  const trainJob = kinds.get('trainer.kubeflow.org/TrainJob') as TemplateKind;
  const object = (limits: object) => ({ spec: { trainer: { resourcesPerNode: { limits } } } });
  expect(asked('mutate', trainJob, object(one), mig('mutate'))).toEqual(silent);
  expect(asked('validate', trainJob, object(one), mig('mutate'))).toMatchObject({
    announced: ['GPU110'],
    patched: false,
  });
  expect(asked('mutate', trainJob, object(many), mig('mutate')).denials).toEqual(['GPU102', 'GPU112']);
});

describe('the preview', () => {
  it.each<[string, TemplateKind, object, EffectivePolicy, object]>([
    ['warns', pytorchJob, ofPytorchJob(half), mig('warn'), { warnings: ['GPU002'] }],
    ['refuses', pytorchJob, ofPytorchJob(half), mig('deny'), { allowed: false, denials: ['GPU002'] }],
    [
      'refuses what mutate did not see',
      pytorchJob,
      ofPytorchJob(half),
      mig('mutate'),
      { allowed: false, denials: ['GPU002'] },
    ],
    ['announces what mutate did not change', deployment, ofDeployment(one), mig('mutate'), { announced: ['GPU110'] }],
    ['announces changes of every template', pytorchJob, ofPytorchJob(one, one), mig('warn'), { announced: ['GPU110'] }],
  ])('%s', (_, kind, object, policy, want) => {
    expect(asked('validate', kind, object, policy)).toMatchObject({ ...want, patched: false });
  });

  it('says what is about the namespace once, however many templates there are', () => {
    const broken = labelled({ 'mig-profile': '9g.99gb' });
    expect(asked('validate', pytorchJob, ofPytorchJob(one, one, one), broken).warnings).toEqual(['GPU113']);
  });
});
