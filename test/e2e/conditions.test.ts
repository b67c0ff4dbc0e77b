import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { DEMO_POLICIES } from '../cluster/gpugate.ts';
import { container, deployment, type Governed, pod, startGoverned } from './governed.ts';

const GPU = { limits: { 'nvidia.com/gpu': '1' } };
const IMAGE = 'registry.example/x:1';

/** How many reviews an action costs, by the counter that gpugate exports. */
describe('the match conditions on a real API server', () => {
  let cluster: Governed;
  beforeAll(async () => {
    cluster = await startGoverned({ policies: DEMO_POLICIES });
  });
  afterAll(() => cluster?.stop());

  const namespace = 'team-training';
  const path = `/api/v1/namespaces/${namespace}/pods`;
  const reviewed = async (action: () => Promise<unknown>) => {
    const before = await cluster.gpugate.reviews();
    await action();
    return (await cluster.gpugate.reviews()) - before;
  };
  const create = async (object: object) => {
    const { code, body } = await cluster.api('POST', `${path}?dryRun=All`, object);
    return { code, body };
  };
  const dry = (spec: object, metadata: object = {}) =>
    create({ apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p', namespace, ...metadata }, spec });

  describe('pods that could not touch a GPU are not sent, whatever fields they lack', () => {
    test.each<[string, object]>([
      ['no resources', { containers: [{ name: 'c', image: IMAGE }] }],
      ['empty resources', { containers: [{ name: 'c', image: IMAGE, resources: {} }] }],
      ['null limits', { containers: [{ name: 'c', image: IMAGE, resources: { limits: null, requests: null } }] }],
      ['empty limits', { containers: [{ name: 'c', image: IMAGE, resources: { limits: {}, requests: {} } }] }],
      ['requests only', { containers: [{ name: 'c', image: IMAGE, resources: { requests: { cpu: '1' } } }] }],
      ['null env', { containers: [{ name: 'c', image: IMAGE, env: null }] }],
      [
        'other variables',
        { containers: [{ name: 'c', image: IMAGE, env: [{ name: 'A' }, { name: 'B', value: '' }] }] },
      ],
      [
        'valueFrom',
        {
          containers: [
            { name: 'c', image: IMAGE, env: [{ name: 'A', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } }] },
          ],
        },
      ],
      ['init containers', { initContainers: [{ name: 'i', image: IMAGE }], containers: [{ name: 'c', image: IMAGE }] }],
      ['null init containers', { initContainers: null, containers: [{ name: 'c', image: IMAGE }] }],
      ['pod level resources', { resources: { limits: { cpu: '1' } }, containers: [{ name: 'c', image: IMAGE }] }],
      ['rdma', { containers: [{ name: 'c', image: IMAGE, resources: { limits: { 'rdma/hca': '1' } } }] }],
      ['an image with gpu in its name', { containers: [{ name: 'gpu', image: 'nvidia.com/gpu:1' }] }],
    ])('%s', async (_name, spec) => {
      expect(await reviewed(async () => expect((await dry(spec)).code).toBe(201))).toBe(0);
    });

    test('annotations and labels of other kinds', async () => {
      const spec = { containers: [{ name: 'c', image: IMAGE }] };
      const metadata = { annotations: { 'nvidia.example/x': 'gpu' }, labels: { gpu: 'yes' } };
      expect(await reviewed(async () => expect((await dry(spec, metadata)).code).toBe(201))).toBe(0);
    });
  });

  describe('pods that could are sent to the mutating and the validating entry', () => {
    test.each<[string, object]>([
      ['a limit', { containers: [{ name: 'c', image: IMAGE, resources: GPU }] }],
      [
        'an init container',
        { initContainers: [{ name: 'i', image: IMAGE, resources: GPU }], containers: [{ name: 'c', image: IMAGE }] },
      ],
      [
        'zero MIG slices',
        { containers: [{ name: 'c', image: IMAGE, resources: { limits: { 'nvidia.com/mig-1g.10gb': '0' } } }] },
      ],
      ['another vendor', { containers: [{ name: 'c', image: IMAGE, resources: { limits: { 'amd.com/gpu': '1' } } }] }],
      [
        'a misspelt name',
        { containers: [{ name: 'c', image: IMAGE, resources: { limits: { 'nvdia.com/gpu': '1' } } }] },
      ],
      [
        'a switch of the cap',
        { containers: [{ name: 'c', image: IMAGE, env: [{ name: 'CUDA_DISABLE_CONTROL', value: 'true' }] }] },
      ],
    ])('%s', async (_name, spec) => {
      expect(await reviewed(async () => expect((await dry(spec)).code).toBe(201))).toBe(2);
    });

    test.each<[string, object]>([
      [
        'a device variable',
        { containers: [{ name: 'c', image: IMAGE, env: [{ name: 'NVIDIA_VISIBLE_DEVICES', value: 'all' }] }] },
      ],
      [
        'one without a value of its own',
        {
          containers: [
            {
              name: 'c',
              image: IMAGE,
              env: [{ name: 'NVIDIA_VISIBLE_DEVICES', valueFrom: { configMapKeyRef: { name: 'm', key: 'k' } } }],
            },
          ],
        },
      ],
    ])('%s is refused', async (_name, spec) => {
      const { code, body } = await dry(spec);
      expect(code).toBe(403);
      expect(body.details.causes[0]).toMatchObject({ reason: 'GPU151', field: 'spec.containers[0].env[0]' });
    });
  });

  describe('workloads', () => {
    const apps = `/apis/apps/v1/namespaces/${namespace}/deployments`;

    test('a GPU Deployment costs two calls, and its ReplicaSet and labels none', async () => {
      const three = deployment('three', namespace, 1, [container('c', GPU)]);
      // Two for the Deployment, two for its pod, none for the ReplicaSet that the Deployment controls.
      expect(
        await reviewed(async () => {
          await cluster.api('POST', apps, three);
          await cluster.must(`wait --for=create pod -l app=three -n ${namespace} --timeout=20s`);
        }),
      ).toBe(4);
      const label = () => cluster.must(`label deployment three -n ${namespace} a=b`);
      expect(await reviewed(label)).toBe(0);
    });

    test.each<[string, string, object]>([
      [
        'Job',
        `/apis/batch/v1/namespaces/${namespace}/jobs`,
        { template: { spec: { restartPolicy: 'Never', containers: [container('c', {})] } } },
      ],
      [
        'CronJob',
        `/apis/batch/v1/namespaces/${namespace}/cronjobs`,
        {
          schedule: '0 0 1 1 *',
          jobTemplate: { spec: { template: { spec: { restartPolicy: 'Never', containers: [container('c', {})] } } } },
        },
      ],
      [
        'ReplicationController',
        `/api/v1/namespaces/${namespace}/replicationcontrollers`,
        { replicas: 0, selector: { a: 'b' } },
      ],
    ])('a %s without GPUs, or without a template, is not sent', async (kind, url, spec) => {
      const apiVersion = url.startsWith('/api/v1') ? 'v1' : url.split('/').slice(2, 4).join('/');
      const object = { apiVersion, kind, metadata: { name: 'x', namespace }, spec };
      expect(await reviewed(() => cluster.api('POST', `${url}?dryRun=All`, object))).toBe(0);
    });

    test.each<[string, string, object]>([
      [
        'Job',
        `/apis/batch/v1/namespaces/${namespace}/jobs`,
        { template: { spec: { restartPolicy: 'Never', containers: [container('c', GPU)] } } },
      ],
      [
        'CronJob',
        `/apis/batch/v1/namespaces/${namespace}/cronjobs`,
        {
          schedule: '0 0 1 1 *',
          jobTemplate: { spec: { template: { spec: { restartPolicy: 'Never', containers: [container('c', GPU)] } } } },
        },
      ],
      [
        'ReplicationController',
        `/api/v1/namespaces/${namespace}/replicationcontrollers`,
        {
          replicas: 0,
          selector: { a: 'b' },
          template: { metadata: { labels: { a: 'b' } }, spec: { containers: [container('c', GPU)] } },
        },
      ],
    ])('a GPU %s is sent to the mutating and the validating entry', async (kind, url, spec) => {
      const apiVersion = url.startsWith('/api/v1') ? 'v1' : url.split('/').slice(2, 4).join('/');
      const object = { apiVersion, kind, metadata: { name: 'x', namespace }, spec };
      expect(
        await reviewed(async () => expect((await cluster.api('POST', `${url}?dryRun=All`, object)).code).toBe(201)),
      ).toBe(2);
    });
  });

  describe('updates of a pod', () => {
    test('only those that touch what gpugate changed are sent', async () => {
      const mig = 'team-inference';
      await cluster.must('apply -f -', pod('bare', mig, [container('c')]));
      const cost = (action: () => Promise<unknown>) => reviewed(action);
      expect(await cost(() => cluster.must(`label pod bare -n ${mig} a=b`))).toBe(0);
      expect(await cost(() => cluster.must(`annotate pod bare -n ${mig} a=b`))).toBe(0);
      expect(await cost(() => cluster.must(`set image pod/bare c=registry.example/x:2 -n ${mig}`))).toBe(0);
      expect(await cost(() => cluster.must('apply -f -', pod('bare', mig, [container('c')])))).toBe(1);
      await cluster.must('apply -f -', pod('other', mig, [container('c', { limits: { cpu: '1' } })]));
      expect(await cost(() => cluster.must(`annotate pod other -n ${mig} gpugate.dev/policy=x`))).toBe(0);
    });

    test('a status update and an in-place resize are never sent', async () => {
      await cluster.must(
        'apply -f -',
        pod('sized', 'team-inference', [container('c', { limits: { 'nvidia.com/gpu': 1, cpu: 1 } })]),
      );
      const resized = JSON.stringify({
        spec: { containers: [{ name: 'c', resources: { limits: { cpu: '2' }, requests: { cpu: '2' } } }] },
      });
      const path = '/api/v1/namespaces/team-inference/pods/sized';
      const type = 'application/strategic-merge-patch+json';
      const seen = await reviewed(async () => {
        expect((await cluster.api('PATCH', `${path}/resize`, resized, type)).code).toBe(200);
        expect((await cluster.api('PATCH', `${path}/status`, '{"status":{"message":"x"}}', type)).code).toBe(200);
      });
      expect(seen).toBe(0);
    });
  });

  test('no expression ever failed', async () => {
    const { body } = await cluster.api('GET', '/metrics');
    const lines = String(body).split('\n');
    const ours = (metric: string) =>
      lines.filter(
        (line) => line.startsWith(`apiserver_admission_match_condition_${metric}{`) && line.includes('gpugate'),
      );
    expect(ours('evaluation_errors_total')).toEqual([]);
    expect(ours('exclusions_total').length, 'the conditions were evaluated').toBeGreaterThan(0);
  });
});
