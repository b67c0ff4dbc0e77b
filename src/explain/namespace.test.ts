import { describe, expect, it } from 'vitest';
import { gpuPolicySchema } from '../policy/schema.ts';
import { explainNamespace } from './namespace.ts';

const policy = (name: string, spec: object) => {
  const document = { apiVersion: 'gpugate.dev/v1alpha1', kind: 'GpuPolicy', metadata: { name }, spec };
  return [name, gpuPolicySchema.parse(document)] as const;
};
const policies = new Map([
  policy('notebooks', { sharing: 'time-slicing', memoryCap: { amount: 'auto', max: '16Gi' }, locked: ['maxGpus'] }),
  policy('default', { sharing: 'exclusive' }),
]);

const told = (labels: Record<string, string>, set = policies) =>
  explainNamespace('team-a', labels, set, ['kube-system']);
const sources = (labels: Record<string, string>) =>
  Object.fromEntries(told(labels).settings.map(({ name, value, source }) => [name, `${value} from ${source}`]));

describe('explain namespace', () => {
  it('tells the label that picks the policy', () => {
    expect(told({ 'gpugate.dev/policy': 'notebooks' })).toMatchObject({
      governed: true,
      policy: 'notebooks',
      chosenBy: 'namespace label gpugate.dev/policy=notebooks',
    });
    expect(told({})).toMatchObject({
      policy: 'default',
      chosenBy: 'no label gpugate.dev/policy, so the policy called default applies',
    });
    expect(told({}, new Map())).toMatchObject({ governed: false, settings: [] });
    expect(told({ 'gpugate.dev/max-gpus': '1' }, new Map())).toMatchObject({
      governed: true,
      chosenBy: expect.stringContaining('other'),
    });
  });

  it('tells of each setting where it comes from', () => {
    expect(sources({ 'gpugate.dev/policy': 'notebooks', 'gpugate.dev/memory-cap': '8Gi' })).toMatchObject({
      mode: 'enforce from policy "notebooks" spec.mode',
      sharing: 'time-slicing from policy "notebooks" spec.sharing',
      resource: 'nvidia.com/gpu from default',
      memoryCap: '8Gi from namespace label gpugate.dev/memory-cap',
      'memoryCap.max': '16384Mi from policy "notebooks" spec.memoryCap.max',
      frameworks: 'nvidia, jax, tensorflow, cupy, paddle from default',
    });
    expect(sources({ 'gpugate.dev/mig-profile': '1g.10gb', 'gpugate.dev/sharing': 'mig' })).toMatchObject({
      sharing: 'mig from namespace label gpugate.dev/sharing',
      migProfile: '1g.10gb from namespace label gpugate.dev/mig-profile',
    });
  });

  it('a label that the policy locks is no source', () => {
    const labels = { 'gpugate.dev/policy': 'notebooks', 'gpugate.dev/max-gpus': '4' };
    expect(sources(labels)).not.toHaveProperty('maxGpus.perPod');
    expect(told(labels).warnings).toMatchObject([{ value: '4', message: expect.stringContaining('is ignored') }]);
  });

  it('carries problems, and whether the webhooks leave the namespace out', () => {
    expect(told({ 'gpugate.dev/policy': 'nowhere' }).problems).toMatchObject([{ value: 'nowhere' }]);
    expect(explainNamespace('kube-system', {}, policies, ['kube-system']).excluded).toBe(true);
  });
});
