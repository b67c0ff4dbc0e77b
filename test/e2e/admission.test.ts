import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { container, deployment, type Governed, pod, startGoverned } from './governed.ts';

const GPU = 'nvidia.com/gpu';
const MIG = 'nvidia.com/mig-1g.10gb';
const TOLERATION = '; GPU130: toleration of nvidia.com/gpu:NoSchedule';

describe('GPU pods on a real API server', () => {
  let cluster: Governed;
  beforeAll(async () => {
    cluster = await startGoverned();
  });
  afterAll(() => cluster?.stop());

  const podJson = async (name: string, namespace: string) =>
    JSON.parse(await cluster.must(`get pod ${name} -n ${namespace} -o json`));
  const reviewed = async (action: () => Promise<unknown>) => {
    const before = await cluster.gpugate.reviews();
    await action();
    return (await cluster.gpugate.reviews()) - before;
  };

  test('every mistake of a pod is refused in one message, with the value that was typed', async () => {
    const bad = pod('bad', 'team-free', [
      container('half', { limits: { [GPU]: 0.5 } }),
      container('milli', { limits: { [GPU]: '500m' } }),
      container('unlimited', { requests: { [GPU]: 1 } }),
      container('unequal', { limits: { [GPU]: 2 }, requests: { [GPU]: 1 } }),
    ]);
    const { code, stderr } = await cluster.run('apply --dry-run=server -f -', bad);
    expect(code).toBe(1);
    expect(stderr.slice(stderr.indexOf('admission webhook'))).toBe(
      `admission webhook "gpu-pods.mutate.gpugate.dev" denied the request: gpugate: 4 problems with the GPU request of pod "bad" (namespace team-free)
 - GPU002 spec.containers[0] "half": nvidia.com/gpu is 0.5; GPUs are counted in whole devices. Ask for 1; to use part of a GPU the namespace needs a policy for MIG or time-slicing.
 - GPU002 spec.containers[1] "milli": nvidia.com/gpu is 500m; GPUs are counted in whole devices. Ask for 1; to use part of a GPU the namespace needs a policy for MIG or time-slicing.
 - GPU004 spec.containers[2] "unlimited": nvidia.com/gpu stands only in requests (1); GPUs need a limit, since they can't be overcommitted. Write the number under limits; the request is set from it.
 - GPU005 spec.containers[3] "unequal": nvidia.com/gpu is 1 in requests and 2 in limits; GPUs can't burst, so both must be equal. Keep the limit that you need and remove the request.
`,
    );
  });

  test('a Deployment of 2 in a MIG namespace becomes pods with slices, placed on the MIG node', async () => {
    const { stderr } = await cluster.run('apply -f -', deployment('infer', 'team-inference', 2, [container('infer')]));
    expect(stderr).toBe(`Warning: gpugate would change: GPU110 container "infer": ${GPU} 1 -> ${MIG} 1${TOLERATION}\n`);
    await cluster.must('wait pod -l app=infer -n team-inference --for=condition=PodScheduled --timeout=30s');
    const { items } = JSON.parse(await cluster.must('get pods -l app=infer -n team-inference -o json'));
    expect(items).toHaveLength(2);
    for (const item of items) {
      expect(item.spec.containers[0].resources).toEqual({ limits: { [MIG]: '1' }, requests: { [MIG]: '1' } });
      expect(item.spec.nodeName).toBe('a100-mig');
      expect(item.metadata.annotations).toMatchObject({ 'gpugate.dev/original': `{"infer":{"${GPU}":"1"}}` });
    }
    const live = JSON.parse(await cluster.must('get deployment infer -n team-inference -o json'));
    expect(live.spec.template.spec.containers[0].resources, 'the template stays as applied').toEqual({
      limits: { [GPU]: '1' },
    });
  });

  test('a server-side dry run shows the change and stores nothing', async () => {
    const { stdout, stderr } = await cluster.run(
      'apply --dry-run=server -o json -f -',
      pod('dry', 'team-inference', [container('c')]),
    );
    expect(JSON.parse(stdout).spec.containers[0].resources.limits).toEqual({ [MIG]: '1' });
    expect(stderr).toBe(`Warning: GPU110 container "c": ${GPU} 1 -> ${MIG} 1${TOLERATION}\n`);
    expect((await cluster.run('get pod dry -n team-inference')).code).toBe(1);
  });

  test('a time-slicing namespace gets the caps of its share', async () => {
    await cluster.must('apply -f -', pod('notebook', 'team-notebooks', [container('nb'), container('web', {})]));
    const { spec, metadata } = await podJson('notebook', 'team-notebooks');
    const env = Object.fromEntries(
      spec.containers[0].env.map(({ name, value }: Record<string, string>) => [name, value]),
    );
    // 15360 MiB of a Tesla T4 in four shares, less 512 MiB.
    expect(env).toMatchObject({ NVIDIA_GPU_MEMORY_LIMIT: '3328', XLA_PYTHON_CLIENT_MEM_FRACTION: '0.216' });
    expect(spec.containers[1].env, 'a container without a GPU has no cap').toBeUndefined();
    expect(metadata.annotations['gpugate.dev/policy']).toContain('memory cap 3328Mi (auto: 15360Mi / 4 - 512Mi');
  });

  test('shared and whole GPUs are kept apart by the real scheduler', async () => {
    const nodesOf = async (namespace: string) => {
      const names = ['p1', 'p2', 'p3'];
      for (const name of names) await cluster.must('apply -f -', pod(name, namespace, [container('c')]));
      await cluster.must(`wait pod ${names.join(' ')} -n ${namespace} --for=condition=PodScheduled --timeout=30s`);
      return Promise.all(names.map(async (name) => (await podJson(name, namespace)).spec.nodeName));
    };
    expect(new Set(await nodesOf('team-notebooks'))).toEqual(new Set(['t4-shared']));
    for (const node of await nodesOf('team-training')) expect(['a100-1', 'a100-2']).toContain(node);
  });

  test('a namespace without a policy is untouched', async () => {
    await cluster.must('apply --server-side -f -', pod('free', 'team-free', [container('c')]));
    const { spec, metadata } = await podJson('free', 'team-free');
    expect(spec.containers[0].resources).toEqual({ limits: { [GPU]: '1' }, requests: { [GPU]: '1' } });
    expect(spec.containers[0].env).toBeUndefined();
    expect(metadata.annotations).toBeUndefined();
  });

  test('a pod without GPUs never reaches gpugate', async () => {
    const seen = await reviewed(async () => {
      await cluster.must('apply -f -', pod('plain', 'team-notebooks', [container('c', { limits: { cpu: 1 } })]));
      await cluster.must('label pod plain -n team-notebooks a=b');
      await cluster.must('apply -f -', deployment('plain', 'team-inference', 2, [container('c', {})]));
    });
    expect(seen).toBe(0);
    const once = await reviewed(() =>
      cluster.must('apply --dry-run=server -f -', pod('one', 'team-training', [container('c')])),
    );
    expect(once, 'the counter does count').toBe(2);
  });

  describe('applied twice', () => {
    const twice = (name: string, namespace: string) =>
      pod(name, namespace, [
        container(
          'c',
          { limits: { [GPU]: 1, cpu: 1 } },
          { env: [{ name: 'XLA_PYTHON_CLIENT_MEM_FRACTION', value: '0.9' }] },
        ),
      ]);

    test.each([
      ['client-side', 'team-inference', ''],
      ['client-side', 'team-notebooks', ''],
      ['server-side', 'team-inference', ' --server-side'],
      ['server-side', 'team-notebooks', ' --server-side'],
    ])('a bare pod works %s in %s, without a diff', async (how, namespace, flag) => {
      const manifest = twice(`twice-${how}`, namespace);
      await cluster.must(`apply${flag} -f -`, manifest);
      const first = await podJson(`twice-${how}`, namespace);
      await cluster.must(`apply${flag} -f -`, manifest);
      const second = await podJson(`twice-${how}`, namespace);
      expect(second.spec.containers).toEqual(first.spec.containers);
      expect(second.metadata.annotations).toMatchObject({
        'gpugate.dev/policy': first.metadata.annotations['gpugate.dev/policy'],
      });
      const diff = await cluster.run(`diff${flag} -f -`, manifest);
      expect(diff.stdout + diff.stderr).toBe('');
    });

    test('a changed count is the API server’s to refuse', async () => {
      await cluster.must('apply -f -', pod('fixed', 'team-inference', [container('c')]));
      const { code, stderr } = await cluster.run(
        'apply -f -',
        pod('fixed', 'team-inference', [container('c', { limits: { [GPU]: 2 } })]),
      );
      expect(code).toBe(1);
      expect(stderr).toContain('pod updates may not change fields');
    });
  });

  describe('kubectl debug', () => {
    const debug = (namespace: string, more: string) =>
      cluster.run(`debug target -n ${namespace} --image=registry.example/cuda:13 --attach=false --quiet${more}`);

    test('with NVIDIA_VISIBLE_DEVICES=all is refused where the policy says deny', async () => {
      await cluster.must('apply -f -', pod('target', 'team-training', [container('c')]));
      const { code, stderr } = await debug('team-training', ' --env=NVIDIA_VISIBLE_DEVICES=all');
      expect(code).toBe(1);
      expect(stderr).toContain('gpu-pods.validate.gpugate.dev');
      expect(stderr).toContain('GPU151 spec.ephemeralContainers[0]');
      expect((await debug('team-training', '')).code, 'without the variable it works').toBe(0);
    });

    test('works in a void namespace, where it sees no GPU', async () => {
      await cluster.must('apply -f -', pod('target', 'team-web', [container('c', {})]));
      const { code, stderr } = await debug('team-web', '');
      expect(code, stderr).toBe(0);
      const { spec } = await podJson('target', 'team-web');
      expect(spec.containers[0].env).toEqual([{ name: 'NVIDIA_VISIBLE_DEVICES', value: 'void' }]);
      expect(spec.ephemeralContainers[0].env).toEqual([{ name: 'NVIDIA_VISIBLE_DEVICES', value: 'void' }]);
      expect((await debug('team-web', ' --env=NVIDIA_VISIBLE_DEVICES=0')).code).toBe(1);
    });
  });

  test('a LimitRange default for the old name does not undo a rename', async () => {
    await cluster.must('create namespace ranged');
    await cluster.must('label namespace ranged gpugate.dev/policy=latency-inference');
    const limits = { limits: [{ type: 'Container', default: { [GPU]: '1' }, defaultRequest: { [GPU]: '1' } }] };
    await cluster.must('apply -f -', {
      apiVersion: 'v1',
      kind: 'LimitRange',
      metadata: { name: 'gpu', namespace: 'ranged' },
      spec: limits,
    });
    await cluster.must('wait --for=create serviceaccount/default -n ranged --timeout=20s');
    await cluster.must('apply -f -', pod('ranged', 'ranged', [container('asked'), container('defaulted', {})]));
    const { spec } = await podJson('ranged', 'ranged');
    for (const { resources } of spec.containers) {
      expect(resources).toEqual({ limits: { [MIG]: '1' }, requests: { [MIG]: '1' } });
    }
  });

  test('a changed label takes effect on the next pod', async () => {
    await cluster.must('create namespace relabelled');
    await cluster.must('wait --for=create serviceaccount/default -n relabelled --timeout=20s');
    const limits = async () => {
      const dry = await cluster.must('apply --dry-run=server -o json -f -', pod('p', 'relabelled', [container('c')]));
      return JSON.parse(dry).spec.containers[0].resources.limits;
    };
    expect(await limits()).toEqual({ [GPU]: '1' });
    await cluster.must('label namespace relabelled gpugate.dev/mig-profile=2g.20gb');
    expect(await limits()).toEqual({ 'nvidia.com/mig-2g.20gb': '1' });
    await cluster.must('label namespace relabelled gpugate.dev/mig-profile=3g.40gb --overwrite');
    expect(await limits()).toEqual({ 'nvidia.com/mig-3g.40gb': '1' });
  });

  test('a namespace and a pod of the same instant get the policy', async () => {
    for (let index = 0; index < 20; index++) {
      const name = `instant-${index}`;
      const labels = { 'gpugate.dev/policy': 'latency-inference' };
      const { api } = cluster;
      expect(
        (await api('POST', '/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name, labels } }))
          .code,
      ).toBe(201);
      await api('POST', `/api/v1/namespaces/${name}/serviceaccounts`, { metadata: { name: 'default' } });
      const { code, body } = await api('POST', `/api/v1/namespaces/${name}/pods`, pod('p', name, [container('c')]));
      expect(code, JSON.stringify(body)).toBe(201);
      expect(body.spec.containers[0].resources.limits).toEqual({ [MIG]: '1' });
    }
  });

  test('modes: warn speaks and changes nothing, audit is silent', async () => {
    await cluster.must('create namespace modes');
    await cluster.must('label namespace modes gpugate.dev/policy=latency-inference gpugate.dev/mode=warn');
    await cluster.must('wait --for=create serviceaccount/default -n modes --timeout=20s');
    const apply = () => cluster.run('apply --dry-run=server -o json -f -', pod('p', 'modes', [container('c')]));
    const warned = await apply();
    expect(JSON.parse(warned.stdout).spec.containers[0].resources.limits).toEqual({ [GPU]: '1' });
    expect(warned.stderr).toBe(
      `Warning: gpugate would change: GPU110 container "c": ${GPU} 1 -> ${MIG} 1${TOLERATION}\n`,
    );
    await cluster.must('label namespace modes gpugate.dev/mode=audit --overwrite');
    await sleep(100);
    const audited = await apply();
    expect(JSON.parse(audited.stdout).spec.containers[0].resources.limits).toEqual({ [GPU]: '1' });
    expect(audited.stderr).toBe('');
  });

  test('a workload is warned of, or refused where its policy says so, when it is applied', async () => {
    const four = [container('c', { limits: { [GPU]: 4 } })];
    const warned = await cluster.run('apply --dry-run=server -f -', deployment('four', 'team-inference', 1, four));
    expect(warned.code).toBe(0);
    expect(warned.stderr).toContain(
      `Warning: GPU112 spec.template.spec.containers[0] "c": would get 4 slices of ${MIG}`,
    );
    const refused = await cluster.run('apply --dry-run=server -f -', deployment('four', 'team-web', 1, four));
    expect(refused.code).toBe(1);
    expect(refused.stderr).toContain('templates.mutate.gpugate.dev');
    expect(refused.stderr).toContain('GPU102');
  });

  test('a label that is not understood is told when it is written, and refuses GPU pods with its name', async () => {
    await cluster.must('create namespace mislabelled');
    const { code, stderr } = await cluster.run('label namespace mislabelled gpugate.dev/sharing=timeslicing');
    expect(code).toBe(0);
    expect(stderr).toBe(
      'Warning: GPU101 namespace label gpugate.dev/sharing is "timeslicing", which is not one of exclusive, time-slicing, mps, mig. Did you mean time-slicing?\n',
    );
    await cluster.must('wait --for=create serviceaccount/default -n mislabelled --timeout=20s');
    const refused = await cluster.run('apply --dry-run=server -f -', pod('p', 'mislabelled', [container('c')]));
    expect(refused.stderr).toContain('GPU101');
    expect((await cluster.run('apply --dry-run=server -f -', pod('p', 'mislabelled', [container('c', {})]))).code).toBe(
      0,
    );
  });
});
