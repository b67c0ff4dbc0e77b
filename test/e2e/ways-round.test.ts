import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { container, type Governed, pod, startGoverned } from './governed.ts';
import { OPENED_BY_IMAGE, podBy, WAYS } from './ways-round/pods.ts';

const VOID = { name: 'NVIDIA_VISIBLE_DEVICES', value: 'void' };
const LABEL = 'gpugate.dev/visible-devices';
const POLICY = 'gpugate.dev/policy';
const NAMESPACES: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  denying: { [POLICY]: 'strict', [LABEL]: 'deny' },
  voiding: { [POLICY]: 'strict', [LABEL]: 'void' },
  warning: { [LABEL]: 'warn' },
  ignoring: { [POLICY]: 'strict', [LABEL]: 'ignore' },
  agents: {},
  'gpu-operator': { [POLICY]: 'strict', [LABEL]: 'deny' },
  classed: { [POLICY]: 'classed' },
  misclassed: { [POLICY]: 'misclassed' },
};
const STRATEGIC = 'application/strategic-merge-patch+json';

describe('ways round the device plugin', () => {
  let cluster: Governed;
  beforeAll(async () => {
    cluster = await startGoverned({ policies: fileURLToPath(new URL('ways-round', import.meta.url)) });
    for (const [name, labels] of Object.entries(NAMESPACES)) {
      await cluster.must('apply -f -', { apiVersion: 'v1', kind: 'Namespace', metadata: { name, labels } });
      await cluster.must(`wait --for=create serviceaccount/default -n ${name} --timeout=20s`);
    }
    for (const name of ['nvidia', 'gvisor']) {
      const runtimeClass = { apiVersion: 'node.k8s.io/v1', kind: 'RuntimeClass', metadata: { name }, handler: name };
      await cluster.must('apply -f -', runtimeClass);
    }
  });
  afterAll(() => cluster?.stop());

  const podsOf = (namespace: string) => `/api/v1/namespaces/${namespace}/pods`;
  const make = (object: object, dryRun = true) => {
    const { namespace } = (object as { metadata: { namespace: string } }).metadata;
    return cluster.api('POST', `${podsOf(namespace)}${dryRun ? '?dryRun=All' : ''}`, object);
  };
  const reviewed = async (action: () => Promise<unknown>) => {
    const before = await cluster.gpugate.reviews();
    await action();
    return (await cluster.gpugate.reviews()) - before;
  };
  const mounting = (name: string, namespace: string, path: string) =>
    pod(name, namespace, [container('agent', {}, { volumeMounts: [{ name: 'v', mountPath: '/host' }] })], {
      volumes: [{ name: 'v', hostPath: { path } }],
    });
  const annotate = (namespace: string, name: string, annotations: object) =>
    cluster.api('PATCH', `${podsOf(namespace)}/${name}`, { metadata: { annotations } }, STRATEGIC);
  const debug = (namespace: string, name: string, more: object) =>
    cluster.api(
      'PATCH',
      `${podsOf(namespace)}/${name}/ephemeralcontainers`,
      { spec: { ephemeralContainers: [{ name: `debug-${Date.now()}`, image: 'registry.example/cuda:13', ...more }] } },
      STRATEGIC,
    );

  describe('are refused', () => {
    test.each(Object.entries({ ...WAYS, ...OPENED_BY_IMAGE }))('%s, where a policy denies', async (_, way) => {
      const { code, body } = await make(podBy(way, 'denying'));
      expect(code, JSON.stringify(body)).toBe(403);
      expect(body.details.causes).toMatchObject([{ reason: way.code, field: way.field }]);
    });

    test.each(Object.entries(WAYS))('%s, in a void namespace', async (_, way) => {
      const { code, body } = await make(podBy(way, 'voiding'));
      expect(code, JSON.stringify(body)).toBe(403);
      expect(body.message).toContain('guard.mutate.gpugate.dev');
      expect(body.details.causes).toMatchObject([{ reason: way.code, field: way.field }]);
    });

    test.each(Object.entries(OPENED_BY_IMAGE))('%s is closed by void instead', async (_, way) => {
      const { code, body } = await make(podBy(way, 'voiding'));
      expect(code, JSON.stringify(body)).toBe(201);
      expect(body.spec.containers[0].env).toEqual([VOID]);
    });

    test('a path upwards is refused by the API server itself', async () => {
      const { code, body } = await make(mounting('p', 'denying', '/srv/../dev'));
      expect(code).toBe(422);
      expect(body.message).toContain("must not contain '..'");
    });
  });

  describe('by a container that is added later', () => {
    beforeAll(async () => {
      expect((await make(pod('target', 'denying', [container('train')]), false)).code).toBe(201);
      expect((await make(pod('target', 'voiding', [container('web', {})]), false)).code).toBe(201);
    });

    test.each<[string, string, object]>([
      ['all by variable', 'GPU151', { env: [{ ...VOID, value: 'all' }] }],
      [
        'from a ConfigMap',
        'GPU151',
        { env: [{ name: VOID.name, valueFrom: { configMapKeyRef: { name: 'm', key: 'k' } } }] },
      ],
      ['privileged beside a GPU', 'GPU152', { securityContext: { privileged: true } }],
    ])('%s', async (_, reason, more) => {
      const { code, body } = await debug('denying', 'target', more);
      expect(code, JSON.stringify(body)).toBe(403);
      expect(body.details.causes).toMatchObject([
        { reason, field: expect.stringMatching(/^spec.ephemeralContainers\[0\]/) },
      ]);
    });

    test('an ordinary one is let in, and closed where the namespace is void', async () => {
      expect((await debug('denying', 'target', {})).code).toBe(200);
      const { code, body } = await debug('voiding', 'target', {
        envFrom: [{ configMapRef: { name: 'site', optional: true } }],
      });
      expect(code, JSON.stringify(body)).toBe(200);
      expect(body.spec.ephemeralContainers[0].env).toEqual([VOID]);
      expect((await debug('voiding', 'target', { env: [{ ...VOID, value: '0' }] })).code).toBe(403);
    });

    test('mounting what the pod had before its namespace was labelled', async () => {
      await cluster.must('create namespace later');
      await cluster.must('wait --for=create serviceaccount/default -n later --timeout=20s');
      expect((await make(mounting('agent', 'later', '/dev'), false)).code).toBe(201);
      await cluster.must(`label namespace later ${LABEL}=deny`);
      const mounted = () => debug('later', 'agent', { volumeMounts: [{ name: 'v', mountPath: '/d' }] });
      await expect.poll(async () => (await mounted()).body.message, { timeout: 10_000 }).toContain('devices.validate');
      expect((await debug('later', 'agent', {})).code).toBe(200);
    });
  });

  describe('by an annotation that a gated pod gets later', () => {
    const gates = { schedulingGates: [{ name: 'example.com/wait' }] };
    const devices = { 'nvidia.cdi.k8s.io/pod': 'nvidia.com/gpu=all' };
    beforeAll(async () => {
      for (const namespace of ['denying', 'voiding', 'warning', 'ignoring', 'agents']) {
        expect((await make(pod('gated', namespace, [container('web', {})], gates), false)).code).toBe(201);
      }
    });

    test.each(['denying', 'voiding'])('refused in %s', async (namespace) => {
      const { code, body } = await annotate(namespace, 'gated', devices);
      expect(code).toBe(403);
      expect(body.message).toContain('annotations.validate.gpugate.dev');
      expect(body.details.causes).toMatchObject([{ reason: 'GPU152' }]);
    });

    test('warned of where the policy warns, and let be where it ignores or there is none', async () => {
      const warned = await annotate('warning', 'gated', devices);
      expect(warned.code).toBe(200);
      expect(warned.warnings).toEqual([expect.stringMatching(/^GPU152 metadata.annotations/)]);
      for (const namespace of ['ignoring', 'agents']) {
        const { code, warnings } = await annotate(namespace, 'gated', devices);
        expect({ code, warnings }).toEqual({ code: 200, warnings: [] });
      }
    });

    test('it costs a call only when it is new or changed', async () => {
      expect(await reviewed(() => annotate('warning', 'gated', { other: '1' }))).toBe(0);
      expect(await reviewed(() => annotate('warning', 'gated', devices))).toBe(0);
      const changed = () => annotate('warning', 'gated', { 'nvidia.cdi.k8s.io/pod': 'nvidia.com/gpu=1' });
      expect(await reviewed(changed)).toBe(1);
      const removed = () => annotate('warning', 'gated', { 'nvidia.cdi.k8s.io/pod': null });
      expect(await reviewed(removed)).toBe(0);
      const opened = () =>
        cluster.api('PATCH', `${podsOf('denying')}/gated`, { spec: { schedulingGates: null } }, STRATEGIC);
      expect(await reviewed(async () => expect((await opened()).code).toBe(200))).toBe(0);
    });
  });

  describe('void', () => {
    test('closes what envFrom may bring, and what an image carries', async () => {
      const envFrom = [{ configMapRef: { name: 'site', optional: true } }];
      const { body } = await make(pod('p', 'voiding', [container('a', {}, { envFrom }), container('b', {})]));
      expect(body.spec.containers.map(({ env }: { env: object }) => env)).toEqual([[VOID], [VOID]]);
    });

    test('is never given to a container that gets a GPU, by resource or by claim', async () => {
      const containers = [
        container('claims', { claims: [{ name: 'gpu' }] }),
        container('class', { limits: { 'deviceclass.resource.kubernetes.io/gpu.example.com': '1' } }),
        container('plain', { limits: { 'nvidia.com/gpu': '1' } }),
        container('web', {}),
      ];
      const resourceClaims = [{ name: 'gpu', resourceClaimTemplateName: 'one-gpu' }];
      const { code, body } = await make(pod('p', 'voiding', containers, { resourceClaims }));
      expect(code, JSON.stringify(body)).toBe(201);
      const hidden = body.spec.containers.filter(({ env }: { env?: object }) => env !== undefined);
      expect(hidden).toMatchObject([{ name: 'web', env: [VOID] }]);
    });

    test('nor to one whose resource a DeviceClass serves under a name of its own', async () => {
      await cluster.must('apply -f -', {
        apiVersion: 'resource.k8s.io/v1',
        kind: 'DeviceClass',
        metadata: { name: 'big' },
        spec: { extendedResourceName: 'example.com/big-accelerator' },
      });
      const served = pod('p', 'voiding', [container('c', { limits: { 'example.com/big-accelerator': '1' } })]);
      const env = async () => (await make(served)).body.spec.containers[0].env;
      // Before 1.36 the API server drops the name unless it is told otherwise (DRAExtendedResource, pkg/features), and nothing serves it.
      const { body } = await cluster.api('GET', '/apis/resource.k8s.io/v1/deviceclasses/big');
      const hidden = body.spec.extendedResourceName === undefined ? [VOID] : undefined;
      await expect.poll(env, { timeout: 20_000 }).toEqual(hidden);
    });
  });

  describe('where the policy warns', () => {
    test('a volume is told of by the entry that sees it', async () => {
      const { code, warnings } = await make(mounting('p', 'warning', '/dev'));
      expect(code).toBe(201);
      expect(warnings).toEqual([
        expect.stringMatching(/^GPU152 spec.volumes\[0\].hostPath.path: volume "v" mounts \/dev/),
      ]);
    });

    test('each thing is told once, however many entries see the pod', async () => {
      const { code, warnings } = await make(
        pod('p', 'warning', [container('train', undefined, { securityContext: { privileged: true } })], {
          volumes: [{ name: 'v', hostPath: { path: '/dev' } }],
        }),
      );
      expect(code).toBe(201);
      expect(warnings.map((warning) => warning.slice(0, 28))).toEqual([
        'GPU152 spec.volumes[0].hostP',
        'GPU152 spec.containers[0] "t',
      ]);
    });
  });

  describe('what has nothing to do with GPUs is not sent', () => {
    test.each<[string, () => object]>([
      ['an agent that mounts /dev where nothing is said of devices', () => mounting('p', 'agents', '/dev')],
      ['nor one where they are ignored', () => mounting('p', 'ignoring', '/dev')],
      [
        'a privileged agent',
        () => pod('p', 'denying', [container('a', {}, { securityContext: { privileged: true } })]),
      ],
      ['a folder of logs', () => mounting('p', 'denying', '/var/log')],
      ['the pods of the kubelet', () => mounting('p', 'denying', '/var/lib/kubelet/pods')],
      ['another runtime', () => pod('p', 'denying', [container('c', {})], { runtimeClassName: 'gvisor' })],
      ['anything in the operator’s namespace', () => podBy(WAYS['all by variable'] as never, 'gpu-operator')],
      ['not even with devices', () => podBy(WAYS['the annotation nvidia.cdi.k8s.io/pod'] as never, 'gpu-operator')],
    ])('%s', async (_, made) => {
      expect(await reviewed(async () => expect((await make(made())).code).toBe(201))).toBe(0);
    });

    test('a harmless device is sent once, and let by', async () => {
      const fuse = () => make(mounting('p', 'denying', '/dev/fuse'));
      expect(await reviewed(async () => expect((await fuse()).code).toBe(201))).toBe(1);
    });

    test('a pod can not exempt itself', async () => {
      const labels = { [LABEL]: 'ignore', 'gpugate.dev/mode': 'audit', 'app.kubernetes.io/part-of': 'gpugate' };
      const made = podBy(WAYS['all by variable'] as never, 'denying') as { metadata: object };
      const { code } = await make({ ...made, metadata: { ...made.metadata, labels, annotations: labels } });
      expect(code).toBe(403);
    });
  });

  describe('the runtime class of a policy', () => {
    const classOf = async (namespace: string, spec: object = {}, resources?: object) => {
      const { code, body, warnings } = await make(pod('p', namespace, [container('c', resources)], spec));
      expect(code, JSON.stringify(body)).toBe(201);
      return { name: body.spec.runtimeClassName, warnings };
    };

    test('is set on GPU pods that name none', async () => {
      expect(await classOf('classed')).toEqual({ name: 'nvidia', warnings: ['GPU131: runtimeClassName nvidia'] });
      expect((await classOf('classed', { runtimeClassName: 'gvisor' })).name).toBe('gvisor');
      expect((await classOf('classed', {}, {})).name).toBeUndefined();
    });

    test('that the cluster lacks is warned of, and not set', async () => {
      // RuntimeClasses are watched from the first such pod on; that one is refused by the API server if it comes too early.
      const warned = async () => (await make(pod('p', 'misclassed', [container('c')]))).warnings;
      await expect
        .poll(warned, { timeout: 10_000 })
        .toEqual([expect.stringMatching(/^GPU131 spec.runtimeClassName: the policy wants/)]);
      expect((await classOf('misclassed')).name).toBeUndefined();
    });

    test('a bare pod can be applied twice', async () => {
      const manifest = pod('twice', 'classed', [container('c')]);
      for (const flag of ['', '', ' --server-side --force-conflicts', ' --server-side']) {
        await cluster.must(`apply${flag} -f -`, manifest);
      }
      expect(await cluster.must('get pod twice -n classed -o jsonpath={.spec.runtimeClassName}')).toBe('nvidia');
    });
  });

  test('no expression ever failed', async () => {
    const { body } = await cluster.api('GET', '/metrics');
    const failed = String(body)
      .split('\n')
      .filter((line) => /^apiserver_admission_match_condition_evaluation_errors_total\{.*gpugate/.test(line));
    expect(failed).toEqual([]);
  });

  describe('while gpugate is stopped', () => {
    beforeAll(() => cluster.gpugate.stop());

    test('agents that mount /dev start wherever nothing is said of devices', async () => {
      for (const namespace of ['agents', 'ignoring', 'gpu-operator', 'team-training', 'default']) {
        const { code, body } = await make(mounting('agent', namespace, '/dev'), false);
        expect(code, JSON.stringify(body)).toBe(201);
      }
    });

    test('elsewhere they are refused with the name of the entry, and other pods are not', async () => {
      const { code, body } = await make(mounting('agent', 'denying', '/dev'));
      expect(code).toBe(500);
      expect(body.message).toContain('failed calling webhook "devices.validate.gpugate.dev"');
      expect((await make(mounting('logs', 'denying', '/var/log'))).code).toBe(201);
    });

    test('no pod gets devices by annotation, and every other annotation is taken', async () => {
      const { code, body } = await annotate('agents', 'gated', { 'nvidia.cdi.k8s.io': 'nvidia.com/gpu=all' });
      expect(code).toBe(500);
      expect(body.message).toContain('failed calling webhook "annotations.validate.gpugate.dev"');
      expect((await annotate('agents', 'gated', { other: '2' })).code).toBe(200);
    });
  });
});
