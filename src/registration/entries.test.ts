import { describe, expect, it } from 'vitest';
import { GPU_RESOURCES } from '../policy/resources.ts';
import { gpuNamePattern } from './conditions.ts';
import { webhookConfigurations } from './configurations.ts';
import { entries } from './entries.ts';

describe('the entries', () => {
  it.each(entries())('$name has a full name and stays clear of what can stop a cluster', (entry) => {
    expect(entry.name.split('.').length).toBeGreaterThanOrEqual(3);
    const resources = entry.rules.flatMap((rule) => rule.resources);
    for (const never of ['*', 'pods/*', 'pods/binding', 'pods/status', 'pods/resize', 'nodes', 'leases']) {
      expect(resources).not.toContain(never);
    }
    // GpuPolicies are in no namespace, and the API server asks no selector about them.
    if (resources.includes('gpupolicies')) return;
    const [included] = entry.namespaceSelector.matchExpressions ?? [];
    expect(included).toMatchObject({ operator: 'NotIn' });
    expect(included?.values).toContain('kube-system');
  });

  it('a mutating entry never fails a pod when gpugate is away', () => {
    for (const entry of entries().filter(({ type }) => type === 'mutate')) expect(entry.failurePolicy).toBe('Ignore');
  });
});

describe('the pattern of GPU names', () => {
  const pattern = new RegExp(gpuNamePattern(['example.com/npu']));

  it.each([
    ...GPU_RESOURCES.map(({ name }) => name),
    'nvidia.com/mig-1g.10gb',
    'nvdia.com/gpu',
    'nvidia.com/gpus',
    'alpha.kubernetes.io/nvidia-gpu',
    'gpu',
    'deviceclass.resource.kubernetes.io/gpu.nvidia.com',
    'example.com/npu',
  ])('sends %s', (name) => expect(pattern.test(name.toLowerCase())).toBe(true));

  it.each([
    'cpu',
    'memory',
    'ephemeral-storage',
    'rdma/hca',
    'vpc.amazonaws.com/pod-eni',
    'examplexcom/npu',
    'hugepages-2Mi',
  ])('leaves %s alone', (name) => expect(pattern.test(name)).toBe(false));
});

it('both configurations write every default out', () => {
  const target = { service: { namespace: 'gpugate', name: 'gpugate', port: 443 } };
  for (const configuration of webhookConfigurations({ target, caBundle: 'PEM' }) as { webhooks: object[] }[]) {
    for (const webhook of configuration.webhooks) {
      expect(webhook).toMatchObject({ matchPolicy: 'Equivalent', objectSelector: {}, sideEffects: 'None' });
      expect(webhook).toHaveProperty('timeoutSeconds');
      expect(webhook).toHaveProperty('clientConfig.service.port', 443);
      expect(webhook).toHaveProperty('clientConfig.caBundle', Buffer.from('PEM').toString('base64'));
    }
  }
});
