import { expect, it } from 'vitest';
import { withTemplateKinds } from '../admission/template-kinds.ts';
import type { Manifest } from './read.ts';
import { asksSomewhere, unknownKindText } from './unknown-kind.ts';

const RESOURCES = { limits: { 'nvidia.com/gpu': 1 } };
const TEMPLATE = { spec: { containers: [{ name: 'c', resources: RESOURCES }] } };

it.each<[string, object, boolean]>([
  ['a Rollout of Argo', { spec: { template: TEMPLATE } }, true],
  ['an InferenceService of KServe', { spec: { predictor: { model: { resources: RESOURCES } } } }, true],
  ['a PodTemplate', { template: TEMPLATE }, true],
  [
    'a Task of Tekton',
    { spec: { steps: [{ computeResources: { requests: { 'nvidia.com/mig-1g.10gb': 1 } } }] } },
    true,
  ],
  ['a resource that was given as one of GPUs', { resources: { limits: { 'example.com/gpu': 1 } } }, true],
  [
    'pods without a GPU',
    { spec: { template: { spec: { containers: [{ resources: { limits: { cpu: 1 } } }] } } } },
    false,
  ],
  ['a ResourceQuota', { spec: { hard: { 'requests.nvidia.com/gpu': 1 } } }, false],
  ['a NodePool of Karpenter', { spec: { limits: { 'nvidia.com/gpu': 1 } } }, false],
  ['a ClusterQueue of Kueue', { spec: { resources: [{ name: 'nvidia.com/gpu', nominalQuota: 1 }] } }, false],
])('whether %s asks for GPUs somewhere', (_, object, asks) => {
  expect(asksSomewhere(object, ['example.com/gpu'])).toBe(asks);
});

it.each([
  [
    'argoproj.io/v1alpha1',
    'Rollout',
    'kind Rollout of group argoproj.io asks for GPUs in pods that gpugate does not look at; name its pod templates with --templates',
  ],
  [
    'v1',
    'PodTemplate',
    'kind PodTemplate of the core group asks for GPUs in pods that gpugate does not look at; name its pod templates with --templates',
  ],
  [
    'extensions/v1beta1',
    'Deployment',
    'kind Deployment of group extensions asks for GPUs in pods that gpugate does not look at; it looks at Deployment of group apps',
  ],
  [
    'v1',
    'pod',
    'kind pod of the core group asks for GPUs in pods that gpugate does not look at; it looks at Pod of the core group',
  ],
])('what is said of %s %s', (apiVersion, kind, text) => {
  expect(unknownKindText({ apiVersion, kind } as Manifest, withTemplateKinds())).toBe(text);
});
