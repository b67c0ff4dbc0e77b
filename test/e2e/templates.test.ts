import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { container, deployment, type Governed, startGoverned } from './governed.ts';
import { BUILT_IN, CUSTOM, PYTORCH_JOB, RAY_CLUSTER, standIn, type Workload } from './templates/workloads.ts';

const GPU = 'nvidia.com/gpu';
const MIG = 'nvidia.com/mig-1g.10gb';
const SETTINGS = ['off', 'warn', 'deny', 'mutate', 'mutate-shared', 'mutate-whole'] as const;
const POLICIES = fileURLToPath(new URL('./templates', import.meta.url));
const EVERY_KIND = [...BUILT_IN, ...CUSTOM].map((workload) => [workload.kind, workload] as const);

const TAINT = { key: 'own', operator: 'Exists', effect: 'NoSchedule' };
const OWN = { key: 'nvidia.com/gpu.sharing-strategy', operator: 'NotIn', values: ['mps'] };
/** A pod that asks for so many GPUs, with all that makes a second apply difficult: env that is clamped, placement that is added to. */
const asking = (gpus: unknown) => ({
  containers: [
    container(
      'c',
      { limits: { [GPU]: gpus, cpu: 1 } },
      { env: [{ name: 'XLA_PYTHON_CLIENT_MEM_FRACTION', value: '0.9' }] },
    ),
    container('other', {}),
  ],
  tolerations: [TAINT],
  affinity: {
    nodeAffinity: {
      requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [{ matchExpressions: [OWN] }] },
    },
  },
});

describe('workloads on a real API server', () => {
  let cluster: Governed;
  beforeAll(async () => {
    cluster = await startGoverned({ policies: POLICIES });
    for (const setting of SETTINGS) {
      await cluster.must(`create namespace ${setting}`);
      await cluster.must(`label namespace ${setting} gpugate.dev/policy=templates-${setting}`);
      await cluster.must(`wait --for=create serviceaccount/default -n ${setting} --timeout=20s`);
    }
  });
  afterAll(() => cluster?.stop());

  const reviewed = async (action: () => Promise<unknown>) => {
    const before = await cluster.gpugate.reviews();
    await action();
    return (await cluster.gpugate.reviews()) - before;
  };
  const live = async (workload: Workload, name: string, namespace: string) => {
    const { apiVersion } = workload.manifest('', '', {}) as unknown as { apiVersion: string };
    const [version = '', group = ''] = apiVersion.split('/').reverse();
    const resource = `${workload.kind.toLowerCase()}s.${version}.${group}`;
    const object = JSON.parse(await cluster.must(`get ${resource} ${name} -n ${namespace} -o json`));
    return { generation: object.metadata.generation, templates: workload.templates(object) };
  };
  const dry = (manifest: object) => cluster.run('apply --dry-run=server -f -', manifest);

  test('kinds whose CRD is not installed disturb nobody', async () => {
    const { code, stderr } = await dry(deployment('plain', 'mutate', 1, [container('c', {})]));
    expect(code, stderr).toBe(0);
    const registered = JSON.parse(await cluster.must('get validatingwebhookconfiguration gpugate -o json'));
    const resources = registered.webhooks.flatMap((webhook: { rules: { resources: string[] }[] }) =>
      webhook.rules.flatMap((rule) => rule.resources),
    );
    expect(resources).toContain('pytorchjobs');
  });

  describe('with the CRDs of PyTorchJob, RayCluster and JobSet', () => {
    beforeAll(async () => {
      for (const workload of CUSTOM) {
        const { apiVersion, kind } = workload.manifest('', '', {}) as unknown as { apiVersion: string; kind: string };
        await cluster.must('apply -f -', standIn(apiVersion, kind));
      }
      await cluster.must('wait --for=condition=Established crd --all --timeout=30s');
    });

    describe.each(EVERY_KIND)('%s', (kind, workload) => {
      test('applied twice works client-side and server-side in every setting, without a diff', async () => {
        for (const namespace of SETTINGS) {
          for (const flag of ['', ' --server-side']) {
            const where = `${namespace}${flag}`;
            const name = flag === '' ? 'client' : 'server';
            const manifest = workload.manifest(name, namespace, asking(1));
            await cluster.must(`apply${flag} -f -`, manifest);
            const first = await live(workload, name, namespace);
            const again = await cluster.run(`apply${flag} -f -`, manifest);
            expect(again.code, `${where}: ${again.stderr}`).toBe(0);
            expect(again.stderr, `${where}: nothing is told twice`).toBe('');
            const second = await live(workload, name, namespace);
            expect(second, where).toEqual(first);
            const diff = await cluster.run(`diff${flag} -f -`, manifest);
            expect(diff.stdout + diff.stderr, where).toBe('');
            for (const { spec } of second.templates) {
              const { limits } = spec.containers[0].resources;
              expect(Object.keys(limits).sort(), where).toEqual(['cpu', namespace === 'mutate' ? MIG : GPU]);
            }
          }
        }
      });

      test('only where the policy says mutate is a template other than it was applied', async () => {
        for (const namespace of ['off', 'warn', 'deny']) {
          for (const { metadata, spec } of (await live(workload, 'client', namespace)).templates) {
            expect(metadata?.annotations).toBeUndefined();
            expect(spec.tolerations).toEqual([TAINT]);
            expect(spec.affinity).toEqual(asking(1).affinity);
            expect(spec.containers[0].env).toHaveLength(1);
            expect(Object.keys(spec.containers[0].resources)).toEqual(['limits']);
          }
        }
        for (const { metadata, spec } of (await live(workload, 'client', 'mutate')).templates) {
          expect(spec.containers[0].resources.requests).toEqual({ [MIG]: '1' });
          expect(metadata.annotations).toEqual({
            'gpugate.dev/policy': 'templates-mutate',
            'gpugate.dev/original': `{"c":{"${GPU}":"1"}}`,
          });
        }
        for (const { spec } of (await live(workload, 'client', 'mutate-shared')).templates) {
          expect(spec.tolerations).toEqual([TAINT, { key: GPU, operator: 'Exists', effect: 'NoSchedule' }]);
          const [term] = spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms;
          const shared = { key: 'nvidia.com/gpu.sharing-strategy', operator: 'In', values: ['time-slicing'] };
          // A DaemonSet's pods are pinned to their nodes by its controller.
          expect(term.matchExpressions).toEqual(kind === 'DaemonSet' ? [OWN] : [OWN, shared]);
          const env = spec.containers[0].env as { name: string; value: string }[];
          const valueIn = (name: string) => env.find((entry) => entry.name === name)?.value;
          // Its node selector keeps the DaemonSet off every node that tells its memory.
          const reached = kind !== 'DaemonSet';
          expect(valueIn('NVIDIA_GPU_MEMORY_LIMIT')).toBe(reached ? '3328' : '3072');
          if (reached) expect(valueIn('XLA_PYTHON_CLIENT_MEM_FRACTION')).toBe('0.216');
          expect(spec.containers[1].env).toBeUndefined();
        }
      });

      test('several GPUs for one container: warned of, refused, or silent, as the policy says', async () => {
        const apply = (namespace: string) => dry(workload.manifest('several', namespace, asking(2)));
        const path = /spec\.[A-Za-z0-9.[\]]*template\.spec\.containers\[0\] "c"/;
        expect(await apply('off')).toMatchObject({ code: 0, stderr: '' });
        const warned = await apply('warn');
        expect(warned.code, warned.stderr).toBe(0);
        expect(warned.stderr).toMatch(/^Warning: GPU112 spec\./m);
        expect(warned.stderr).toMatch(path);
        const refused = await apply('deny');
        expect(refused.code).toBe(1);
        expect(refused.stderr).toContain('"templates.mutate.gpugate.dev" denied the request');
        expect(refused.stderr).toMatch(path);
        const changed = await dry(workload.manifest('several', 'mutate', asking(4)));
        expect(changed.stderr, 'mutate refuses what it would refuse of a pod').toContain('GPU102');
        expect(changed.code).toBe(1);
      });

      test('a fraction is told of with its place in the object', async () => {
        const apply = (namespace: string) => dry(workload.manifest('half', namespace, asking(0.5)));
        const [off, warned, refused] = [await apply('off'), await apply('warn'), await apply('deny')];
        expect(refused.code).toBe(1);
        expect(refused.stderr).toContain('GPU002');
        expect(refused.stderr).toContain(`of ${kind} "half" (policy "templates-deny", namespace deny)`);
        expect(warned.stderr).toMatch(/GPU002 spec\.\S+\.containers\[0\] "c": nvidia.com\/gpu is 0\.5;/);
        if (workload.builtIn) {
          // The API server refuses it anyway, with a bare text unless gpugate is asked before.
          expect(warned.code).toBe(1);
          expect(off.stderr).toContain('must be an integer');
        } else {
          expect(warned).toMatchObject({ code: 0 });
          expect(off).toMatchObject({ code: 0, stderr: '' });
        }
      });

      test('what a controller owns is left alone', async () => {
        const manifest = workload.manifest('owned', 'deny', asking(2)) as { metadata: Record<string, unknown> };
        const owner = { apiVersion: 'v1', kind: 'ConfigMap', name: 'x', uid: 'x', controller: true };
        manifest.metadata.ownerReferences = [owner];
        expect(await reviewed(async () => expect(await dry(manifest)).toMatchObject({ code: 0, stderr: '' }))).toBe(0);
      });

      test('labels, annotations and scaling cost no call; another image does', async () => {
        const name = `${kind.toLowerCase()}s`;
        const type = workload.builtIn ? name : `${name}.${CUSTOM.includes(workload) ? groupOf(workload) : ''}`;
        const calls = await reviewed(async () => {
          await cluster.must(`label ${type} client -n mutate a=b`);
          await cluster.must(`annotate ${type} client -n mutate a=b`);
        });
        expect(calls).toBe(0);
        if (kind === 'Deployment' || kind === 'StatefulSet' || kind === 'ReplicaSet') {
          expect(await reviewed(() => cluster.must(`scale ${type} client -n warn --replicas=0`))).toBe(0);
          const patch = '{"spec":{"minReadySeconds":1}}';
          expect(await reviewed(() => cluster.must(`patch ${type} client -n warn -p ${patch}`))).toBe(0);
          expect(await reviewed(() => cluster.must(`set image ${type} c=registry.example/x:2 -n warn --all`))).toBe(4);
        }
      });
    });

    test('a Deployment gives one warning, not three', async () => {
      const two = deployment('once', 'warn', 2, [container('c')]);
      const { stderr } = await cluster.run('apply -f -', two);
      expect(stderr).toBe(`Warning: gpugate would change: GPU110 container "c": ${GPU} 1 -> ${MIG} 1\n`);
      await cluster.must('wait pod -l app=once -n warn --for=condition=PodScheduled --timeout=30s');
    });

    test('pods of a changed template are as it says, and need no further change', async () => {
      const { stderr } = await cluster.run('apply -f -', deployment('made', 'mutate', 2, [container('c')]));
      expect(stderr).toBe(`Warning: GPU110 container "c": ${GPU} 1 -> ${MIG} 1\n`);
      await cluster.must('wait pod -l app=made -n mutate --for=condition=PodScheduled --timeout=30s');
      const { items } = JSON.parse(await cluster.must('get pods -l app=made -n mutate -o json'));
      expect(items).toHaveLength(2);
      for (const { metadata, spec } of items) {
        expect(spec.containers[0].resources).toEqual({ limits: { [MIG]: '1' }, requests: { [MIG]: '1' } });
        expect(metadata.annotations['gpugate.dev/original']).toBe(`{"c":{"${GPU}":"1"}}`);
      }
    });

    test.each(['', ' --server-side'])('another number of GPUs is followed (apply%s)', async (flag) => {
      const name = `more${flag === '' ? '' : '-server'}`;
      for (const workload of [BUILT_IN[0], RAY_CLUSTER] as Workload[]) {
        await cluster.must(`apply${flag} -f -`, workload.manifest(name, 'mutate', asking(1)));
        await cluster.must(`apply${flag} -f -`, workload.manifest(name, 'mutate', asking(2)));
        const [template] = (await live(workload, name, 'mutate')).templates;
        expect(template.spec.containers[0].resources).toEqual({
          limits: { cpu: workload.builtIn ? '1' : 1, [MIG]: '2' },
          requests: { [MIG]: '2' },
        });
      }
    });

    test('what a queueing system changes of a suspended Job passes, and the Job can still be applied', async () => {
      const [job] = BUILT_IN.filter(({ kind }) => kind === 'Job') as [Workload];
      await cluster.must('apply -f -', job.manifest('queued', 'mutate-shared', asking(1)));
      const placed = '{"spec":{"template":{"spec":{"nodeSelector":{"pool":"a"}}}}}';
      await cluster.must(`patch job queued -n mutate-shared -p ${placed}`);
      const again = await cluster.run('apply -f -', job.manifest('queued', 'mutate-shared', asking(1)));
      expect(again.code, again.stderr).toBe(0);
      const [{ spec }] = (await live(job, 'queued', 'mutate-shared')).templates as [{ spec: { nodeSelector: object } }];
      expect(spec.nodeSelector).toEqual({ pool: 'a' });
    });

    test('a Job that was made before its policy said mutate stays as it is', async () => {
      const [job] = BUILT_IN.filter(({ kind }) => kind === 'Job') as [Workload];
      await cluster.must('create namespace switched');
      await cluster.must('label namespace switched gpugate.dev/policy=templates-warn');
      await cluster.must('apply -f -', job.manifest('early', 'switched', asking(1)));
      await cluster.must('label namespace switched gpugate.dev/policy=templates-mutate --overwrite');
      const placed = '{"spec":{"template":{"spec":{"nodeSelector":{"pool":"a"}}}}}';
      await cluster.must(`patch job early -n switched -p ${placed}`);
      const [template] = (await live(job, 'early', 'switched')).templates;
      expect(template.spec.containers[0].resources.limits).toEqual({ cpu: '1', [GPU]: '1' });
    });

    test.each<[string, unknown]>([
      ['no spec', undefined],
      ['a list where a map is meant', { pytorchReplicaSpecs: [{ template: 'x' }] }],
      ['text where a map is meant', { pytorchReplicaSpecs: 'x' }],
      ['null', { pytorchReplicaSpecs: { Worker: null, Master: { template: null } } }],
      ['a template without a spec', { pytorchReplicaSpecs: { Worker: { template: {} } } }],
      ['containers that are none', { pytorchReplicaSpecs: { Worker: { template: { spec: { containers: 'x' } } } } }],
      [
        'resources that are none',
        { pytorchReplicaSpecs: { Worker: { template: { spec: { containers: [{ resources: 1 }] } } } } },
      ],
    ])('a PyTorchJob with %s passes', async (_, spec) => {
      const odd = { ...PYTORCH_JOB.manifest('odd', 'mutate', {}), spec };
      expect(await dry(odd)).toMatchObject({ code: 0, stderr: '' });
    });

    test('all problems of an object in one message', async () => {
      const spec = {
        pytorchReplicaSpecs: {
          Master: { template: { spec: asking('1500m') } },
          Worker: { template: { spec: { containers: [container('w', { requests: { [GPU]: 1 } })] } } },
        },
      };
      const { code, stderr } = await dry({ ...PYTORCH_JOB.manifest('bad', 'deny', {}), spec });
      expect(code).toBe(1);
      expect(stderr.slice(stderr.indexOf('gpugate: '))).toBe(
        `gpugate: 2 problems with the GPU request of PyTorchJob "bad" (policy "templates-deny", namespace deny)
 - GPU002 spec.pytorchReplicaSpecs.Master.template.spec.containers[0] "c": nvidia.com/gpu is 1500m; GPUs are counted in whole devices. Ask for 2: here one unit is a MIG slice 1g.10gb.
 - GPU004 spec.pytorchReplicaSpecs.Worker.template.spec.containers[0] "w": nvidia.com/gpu stands only in requests (1); GPUs need a limit, since they can't be overcommitted. Write the number under limits; the request is set from it.
`,
      );
    });

    test('a custom resource costs two calls for a new spec', async () => {
      const ray = RAY_CLUSTER.manifest('calls', 'warn', asking(1));
      expect(await reviewed(() => cluster.must('apply -f -', ray))).toBe(2);
      const patch = '{"spec":{"suspend":true}}';
      expect(await reviewed(() => cluster.must(`patch rayclusters calls -n warn --type=merge -p ${patch}`))).toBe(2);
    });
  });

  test('no expression ever failed', async () => {
    const { body } = await cluster.api('GET', '/metrics');
    const failed = String(body)
      .split('\n')
      .filter((line) => line.startsWith('apiserver_admission_match_condition_evaluation_errors_total{'));
    expect(failed.filter((line) => line.includes('gpugate'))).toEqual([]);
  });
});

function groupOf(workload: Workload): string {
  const { apiVersion } = workload.manifest('', '', {}) as unknown as { apiVersion: string };
  return apiVersion.split('/')[0] ?? '';
}
