import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { type Ended, gpugate } from '../integration/gpugate.ts';
import { container, deployment, type Governed, pod, startGoverned } from './governed.ts';

const GPU = 'nvidia.com/gpu';
const SLICE = 'nvidia.com/mig-1g.10gb';
const NAMESPACE = 'lab';

interface Explained {
  readonly state: string;
  readonly notAboutGpus: boolean;
  readonly headline: string;
  readonly layers: readonly {
    readonly name: string;
    readonly mark: string;
    readonly seen: readonly string[];
    readonly reasons: readonly { readonly code: string; readonly text: string; readonly next: string }[];
  }[];
}

describe('gpugate explain on a real cluster', () => {
  let cluster: Governed;
  beforeAll(async () => {
    cluster = await startGoverned();
    for (const name of [NAMESPACE, 'counted']) {
      await cluster.must(`create namespace ${name}`);
      await cluster.must(`wait --for=create serviceaccount/default -n ${name} --timeout=20s`);
    }
    await cluster.must('apply --server-side -f -', { apiVersion: 'v1', kind: 'List', items: NODES });
    await cluster.must('apply --server-side -f - --subresource=status', {
      apiVersion: 'v1',
      kind: 'List',
      items: NODES,
    });
    await cluster.must('create quota gpus -n counted --hard=requests.nvidia.com/gpu=1');
    await cluster.must('apply -f -', runtimeClass('gone'));
    await cluster.must('apply -f -', { apiVersion: 'v1', kind: 'List', items: CLAIMS });
    await running(wanting('first', 'full', { [GPU]: 3 }));
    await running(wanting('second', 'full', { [GPU]: 1 }));
    await running(wanting('well', 'roomy', { [GPU]: 1 }));
  });
  afterAll(() => cluster?.stop());

  /** Makes a pod, waits for its node, and says what a kubelet would: it runs. */
  async function running(object: object): Promise<void> {
    const { metadata } = object as { metadata: { name: string; namespace: string } };
    await cluster.must('apply -f -', object);
    await cluster.must(`wait pod/${metadata.name} -n ${metadata.namespace} --for=condition=PodScheduled --timeout=60s`);
    const { code } = await cluster.api(
      'PATCH',
      `/api/v1/namespaces/${metadata.namespace}/pods/${metadata.name}/status`,
      { status: { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] } },
      'application/strategic-merge-patch+json',
    );
    expect(code).toBe(200);
  }

  const run = (args: string): Promise<Ended> =>
    gpugate(['explain', ...args.split(' '), '--kubeconfig', cluster.plane.kubeconfig], { LANG: 'C.UTF-8' });

  async function explained(target: string, namespace = NAMESPACE): Promise<Explained> {
    const { code, stdout, stderr } = await run(`${target} -n ${namespace} -o json`);
    expect([code, stderr]).toEqual([0, '']);
    return JSON.parse(stdout);
  }

  const reasonsOf = ({ layers }: Explained) => layers.flatMap(({ reasons }) => reasons);
  const codesOf = (explanation: Explained) => reasonsOf(explanation).map(({ code }) => code);

  /** Makes a pod that waits, and explains it once the scheduler has said so. */
  async function waiting(object: object): Promise<Explained> {
    const { metadata } = object as { metadata: { name: string; namespace: string } };
    await cluster.must('apply -f -', object);
    await vi.waitUntil(
      async () => {
        const { body } = await cluster.api('GET', `/api/v1/namespaces/${metadata.namespace}/pods/${metadata.name}`);
        return body.status.conditions?.some(({ type }: { type: string }) => type === 'PodScheduled');
      },
      { timeout: 60_000, interval: 100 },
    );
    return explained(metadata.name);
  }

  test.each<[string, object, readonly string[], string | RegExp, boolean]>([
    [
      'a GPU under another name',
      wanting('renamed', 'renamed'),
      ['other-name'],
      /^no node that the pod may go to offers nvidia.com\/gpu; there are GPUs under other names, nvidia.com\/gpu.shared \(4 on renamed\); none of/,
      false,
    ],
    [
      'a MIG layout under way',
      wanting('layout', 'layout', { [SLICE]: 1 }),
      ['mig-layout'],
      'the MIG layout all-1g.10gb of node layout is still `pending` (nvidia.com/mig.config.state), so its slices are not there yet',
      false,
    ],
    [
      'a taint without toleration',
      wanting('tainted', 'tainted'),
      ['taint'],
      'node tainted has the taint dedicated=research:NoSchedule without toleration in the pod',
      false,
    ],
    [
      'units that others hold',
      wanting('late', 'full'),
      ['taken'],
      'all 4 units of nvidia.com/gpu on full are taken by lab/first (3), lab/second (1)',
      false,
    ],
    [
      'fewer units free than wanted',
      wanting('large', 'roomy', { [GPU]: 2 }),
      ['taken'],
      '1 of 2 nvidia.com/gpu on roomy is free, and the pod takes 2; the others are taken by lab/well (1)',
      false,
    ],
    [
      'a product that no node has',
      wanting('h100', undefined, { [GPU]: 1 }, { nodeSelector: { 'nvidia.com/gpu.product': 'NVIDIA-H100-NVL' } }),
      ['no-such-product'],
      'no node has the product NVIDIA-H100-NVL; there is NVIDIA-A10, NVIDIA-A100-SXM4-80GB, Tesla-T4-SHARED',
      false,
    ],
    ['a cordoned node', wanting('cordon', 'cordoned'), ['cordoned'], 'node cordoned is cordoned (unschedulable)', true],
    [
      'an affinity that no node meets',
      wanting('zone', undefined, { [GPU]: 1 }, { affinity: required('topology.kubernetes.io/zone', 'nowhere') }),
      ['node-selector'],
      'no node meets topology.kubernetes.io/zone In [nowhere]',
      true,
    ],
    [
      'an affinity that keeps it from the GPUs',
      wanting('aside', undefined, { [SLICE]: 1 }, { nodeSelector: { 'kubernetes.io/hostname': 'cpu' } }),
      ['gpus-elsewhere'],
      'none of the nodes that have enough of its GPUs (a100-mig) meets kubernetes.io/hostname=cpu; there is a100-mig',
      false,
    ],
    [
      'a gate',
      wanting('gated', 'roomy', { [GPU]: 1 }, { schedulingGates: [{ name: 'kueue.x-k8s.io/admission' }] }),
      ['gated'],
      'the pod is gated: no scheduler looks at it until kueue.x-k8s.io/admission is removed, which Kueue does when it has room',
      true,
    ],
    [
      'more than a node has',
      wanting('huge', 'full', { [GPU]: 16 }),
      ['more-than-a-node-has'],
      'the pod takes 16 nvidia.com/gpu, and the largest node that it may go to has 4',
      false,
    ],
    [
      'an init container that wants more than the rest, on a node that is too small',
      wanting('init', 'roomy', { [GPU]: 1 }, { initContainers: [container('i', { limits: { [GPU]: 4 } })] }),
      ['more-than-a-node-has'],
      /^the pod takes 4 nvidia.com\/gpu, and the largest node that it may go to has 2; none of the nodes that have enough of its GPUs/,
      false,
    ],
    [
      'two kinds of GPUs that no node has together',
      wanting('kinds', undefined, { [GPU]: 1, [SLICE]: 1 }),
      ['more-than-a-node-has'],
      'the pod takes 1 nvidia.com/gpu and 1 nvidia.com/mig-1g.10gb, and no node has both',
      false,
    ],
    [
      'GPUs of another vendor',
      wanting('vendor', 'roomy', { 'amd.com/gpu': 1 }),
      ['no-node-offers'],
      'no node that the pod may go to offers amd.com/gpu; there are GPUs of other vendors, nvidia.com/gpu (2 on roomy)',
      false,
    ],
    [
      'GPUs that are all unhealthy',
      wanting('sick', 'unhealthy'),
      ['unhealthy-gpus'],
      'every nvidia.com/gpu is marked unhealthy by the device plugin: unhealthy (4 there, 0 healthy)',
      false,
    ],
    [
      'a device plugin that is gone',
      wanting('plugin', 'plugin-gone'),
      ['none-left-of-the-plugin'],
      /^plugin-gone advertises nvidia.com\/gpu with 0 of it/,
      false,
    ],
    [
      'a name that no plugin uses',
      wanting('typo', 'roomy', { 'nvidia.com/gpus': 1 }),
      ['misspelt-name'],
      'container "c" asks for nvidia.com/gpus, a name that no device plugin advertises; nvidia.com/gpu is meant',
      false,
    ],
    [
      'a volume claim that is not there',
      wanting(
        'volume',
        'roomy',
        { [GPU]: 1 },
        {
          volumes: [{ name: 'data', persistentVolumeClaim: { claimName: 'data' } }],
        },
      ),
      ['volume'],
      'the scheduler says of the pod: persistentvolumeclaim "data" not found',
      true,
    ],
    [
      'a volume claim that is not there, and units that others hold',
      wanting(
        'volume-and-full',
        'full',
        { [GPU]: 1 },
        { volumes: [{ name: 'data', persistentVolumeClaim: { claimName: 'data' } }] },
      ),
      ['taken', 'volume'],
      'all 4 units of nvidia.com/gpu on full are taken by lab/first (3), lab/second (1)',
      false,
    ],
    [
      'a resource claim that none can fill, though it is there',
      wanting('claim', 'roomy', { [GPU]: 1 }, { resourceClaims: [{ name: 'x', resourceClaimName: 'there' }] }),
      ['claim'],
      'the scheduler says of 1 node: cannot allocate all claims',
      false,
    ],
    [
      'too little cpu, with GPUs free',
      wanting('cpu', 'roomy', { [GPU]: 1, cpu: '900' }),
      ['other-resource'],
      'the scheduler says of 1 node: Insufficient cpu',
      true,
    ],
    [
      'other pods it wants to be with',
      wanting(
        'alone',
        'roomy',
        { [GPU]: 1 },
        {
          affinity: {
            podAffinity: {
              requiredDuringSchedulingIgnoredDuringExecution: [
                { labelSelector: { matchLabels: { app: 'absent' } }, topologyKey: 'kubernetes.io/hostname' },
              ],
            },
          },
        },
      ),
      ['other-pods'],
      /pod affinity rules$/,
      true,
    ],
    [
      'no GPU at all, and no cpu',
      wanting('plain', 'roomy', { cpu: '900' }),
      ['other-resource'],
      'the scheduler says of 1 node: Insufficient cpu',
      true,
    ],
  ])('%s', async (_, object, codes, text, notAboutGpus) => {
    const explanation = await waiting(object);
    expect(explanation.state).toMatch(/^(waiting|gated)$/);
    expect(codesOf(explanation)).toEqual(codes);
    const [first] = reasonsOf(explanation);
    if (typeof text === 'string') expect(first?.text).toBe(text);
    else expect(first?.text).toMatch(text);
    expect(explanation.notAboutGpus).toBe(notAboutGpus);
  });

  test.each<[string, string, object, readonly string[], string]>([
    [
      'a resource claim that is not there, of which the scheduler says nothing',
      'claimless',
      { resourceClaims: [{ name: 'x', resourceClaimName: 'nope' }] },
      ['the resource claim nope, which the pod names, does not exist'],
      'is Pending, for 1 reason.',
    ],
    [
      'a node that it names itself and that has no GPU',
      'on-cpu',
      { nodeName: 'renamed' },
      ['node renamed does not advertise nvidia.com/gpu: its kubelet starts the pod without it'],
      'names node renamed itself, past the scheduler: 1 reason stands against it.',
    ],
    [
      'a node that it names itself and that is full',
      'on-full',
      { nodeName: 'full' },
      ['all 4 units of nvidia.com/gpu on full are taken by lab/first (3), lab/second (1)'],
      'names node full itself, past the scheduler: 1 reason stands against it.',
    ],
    [
      'a node that it names itself and that is not there',
      'on-nothing',
      { nodeName: 'doesnotexist' },
      ['there is no node doesnotexist, so no kubelet starts the pod'],
      'names node doesnotexist itself, past the scheduler: 1 reason stands against it. It is not a GPU problem.',
    ],
  ])('%s', async (_, name, spec, texts, first) => {
    await cluster.must('apply -f -', wanting(name, undefined, { [GPU]: 1 }, spec));
    const explanation = await explained(name);
    expect(reasonsOf(explanation).map(({ text }) => text)).toEqual(texts);
    expect(explanation.headline).toBe(`pod/${name} in namespace lab ${first}`);
    expect(explanation.layers.find((layer) => layer.name === 'scheduler')?.seen[0]).toMatch(
      /^has not looked at the pod/,
    );
    // Pod garbage collection and the quota of units would meet it later.
    await cluster.must(`delete pod ${name} -n ${NAMESPACE} --force --grace-period=0`);
  });

  describe('workloads that want no pod now', () => {
    const template = (spec: object = {}) => ({
      metadata: { labels: { app: 'idle' } },
      spec: { containers: [container('c')], ...spec },
    });
    const of = (kind: string, spec: object): object => ({
      apiVersion: /Job$/.test(kind) ? 'batch/v1' : 'apps/v1',
      kind,
      metadata: { name: `idle-${kind.toLowerCase()}`, namespace: NAMESPACE },
      spec,
    });
    const selector = { matchLabels: { app: 'idle' } };
    const never = { restartPolicy: 'Never' };

    test.each<[string, object, string]>([
      ['Deployment', { replicas: 0, selector, template: template() }, 'asks for 0 replicas.'],
      ['ReplicaSet', { replicas: 0, selector, template: template() }, 'asks for 0 replicas.'],
      ['Job', { suspend: true, template: template(never) }, 'is suspended.'],
      [
        'CronJob',
        { schedule: '0 0 1 1 *', jobTemplate: { spec: { template: template(never) } } },
        'has no job now; its schedule is 0 0 1 1 *.',
      ],
      [
        'DaemonSet',
        { selector, template: template({ nodeSelector: { pool: 'nowhere' } }) },
        'has no node: none is one that selector, affinity and tolerations of its pods let them go to.',
      ],
    ])('%s %j', async (kind, spec, first) => {
      await cluster.must('apply -f -', of(kind, spec));
      const [lower, name] = [kind.toLowerCase(), `idle-${kind.toLowerCase()}`];
      // Until its controller has looked at it, that is what there is to say.
      const explanation = await vi.waitUntil(
        async () => {
          const now = await explained(`${lower}/${name}`);
          return !now.headline.includes('was not looked at') && now;
        },
        { timeout: 30_000, interval: 200 },
      );
      expect([explanation.state, explanation.headline]).toEqual(['idle', `${lower}/${name} in namespace lab ${first}`]);
      expect(codesOf(explanation)).toEqual([]);
    });

    test('a StatefulSet that waits for the pod before, and a paused Deployment', async () => {
      await cluster.must(
        'apply -f -',
        of('StatefulSet', {
          replicas: 2,
          serviceName: 'x',
          selector,
          template: template({ nodeSelector: { pool: 'pair' } }),
        }),
      );
      await vi.waitUntil(
        async () =>
          (await cluster.run(`get pod idle-statefulset-0 -n ${NAMESPACE} -o jsonpath={.spec.nodeName}`)).stdout ===
          'pair',
        { timeout: 30_000, interval: 200 },
      );
      await run1({ metadata: { name: 'idle-statefulset-0', namespace: NAMESPACE } });
      expect((await explained('sts/idle-statefulset')).headline).toBe(
        'statefulset/idle-statefulset in namespace lab makes one pod after the other, and waits for pod/idle-statefulset-0 to be ready.',
      );
      // One that was rolled out before would be scaled, though it is paused.
      await cluster.must(`delete deployment idle-deployment -n ${NAMESPACE}`);
      await cluster.must('apply -f -', of('Deployment', { paused: true, replicas: 1, selector, template: template() }));
      const first = await vi.waitUntil(
        async () => {
          const { headline } = await explained('deployment/idle-deployment');
          return !headline.includes('was not looked at') && headline;
        },
        { timeout: 30_000, interval: 200 },
      );
      expect(first).toBe('deployment/idle-deployment in namespace lab is paused, and was never rolled out.');
    });
  });

  test('a scheduler that is not there', async () => {
    await cluster.must('apply -f -', wanting('volcano', 'roomy', { [GPU]: 1 }, { schedulerName: 'volcano' }));
    const explanation = await explained('volcano');
    expect(codesOf(explanation)).toEqual(['no-scheduler']);
  });

  test('a RuntimeClass that is gone', async () => {
    await cluster.must('apply -f -', wanting('classy', 'tainted', { [GPU]: 1 }, { runtimeClassName: 'gone' }));
    await cluster.must('delete runtimeclass gone');
    const explanation = await waiting(wanting('classy', 'tainted', { [GPU]: 1 }, { runtimeClassName: 'gone' }));
    expect(codesOf(explanation)).toEqual(['runtime-class', 'taint']);
  });

  test.each<[string, string, string, string, RegExp]>([
    ['a quota', 'counted', 'train', 'quota', /^the quota gpus is used up: .*; held by train-[^ ]+ \(1\)$/],
    ['a refusal of gpugate', 'team-inference', 'many', 'refused-by-gpugate', /^gpugate refuses the pod: .*GPU112/],
    ['a RuntimeClass that is not there', NAMESPACE, 'classless', 'runtime-class', /RuntimeClass "absent" not found/],
  ])('%s that keeps pods from being made', async (_, namespace, name, code, text) => {
    const specs: Record<string, object> = {
      // No kubelet ends what was made, so it stays off the nodes of the others.
      train: withSpec(deployment(name, namespace, 3, [container('c')]), { nodeSelector: { pool: 'spare' } }),
      many: deployment(name, namespace, 1, [container('c', { limits: { [GPU]: 2 } })]),
      classless: withSpec(deployment(name, namespace, 1, [container('c')]), { runtimeClassName: 'absent' }),
    };
    await cluster.must('apply -f -', specs[name]);
    const explanation = await vi.waitUntil(
      async () => {
        // Pods that were made first run, so that none of them is the one that waits.
        for (const item of await podsOf(namespace, name)) {
          if (item.spec.nodeName && item.status.phase === 'Pending') await run1(item);
        }
        const now = await explained(`deployment/${name}`, namespace);
        return now.state === 'refused' && codesOf(now).length > 0 && now;
      },
      { timeout: 60_000, interval: 500 },
    );
    const [reason] = reasonsOf(explanation);
    expect([codesOf(explanation), reason?.text]).toEqual([[code], expect.stringMatching(text)]);
  });

  async function podsOf(namespace: string, app: string) {
    const { body } = await cluster.api('GET', `/api/v1/namespaces/${namespace}/pods?labelSelector=app%3D${app}`);
    return body.items as {
      metadata: { name: string; namespace: string };
      spec: { nodeName?: string };
      status: { phase: string };
    }[];
  }
  const run1 = (item: { metadata: { name: string; namespace: string } }) =>
    cluster.api(
      'PATCH',
      `/api/v1/namespaces/${item.metadata.namespace}/pods/${item.metadata.name}/status`,
      { status: { phase: 'Running' } },
      'application/strategic-merge-patch+json',
    );

  describe('pods that nothing keeps', () => {
    test('one that runs', async () => {
      const explanation = await explained('well');
      expect(explanation).toMatchObject({
        state: 'running',
        headline: 'pod/well in namespace lab runs on roomy. Nothing keeps it from running.',
      });
      expect(codesOf(explanation)).toEqual([]);
      expect(explanation.layers.filter(({ mark }) => mark === 'problem')).toEqual([]);
      expect((await run(`well -n ${NAMESPACE} --exit-code`)).code).toBe(0);
    });

    test.each<[string, object, string]>([
      [
        'one that crashes',
        {
          phase: 'Running',
          containerStatuses: [
            {
              name: 'c',
              image: 'x',
              imageID: '',
              ready: false,
              restartCount: 4,
              state: { waiting: { reason: 'CrashLoopBackOff', message: 'back-off' } },
              lastState: { terminated: { exitCode: 1, reason: 'Error' } },
            },
          ],
        },
        'is on node pair, and not all of its containers run, for 1 reason.',
      ],
      [
        'one that was evicted',
        { phase: 'Failed', reason: 'Evicted', message: 'The node was low on resource: memory. ' },
        'has failed: Evicted: The node was low on resource: memory.',
      ],
      ['one that is done', { phase: 'Succeeded' }, 'has ended well.'],
    ])('%s', async (_, status, first) => {
      await cluster.must('apply -f -', wanting('after', 'pair'));
      await cluster.must(`wait pod/after -n ${NAMESPACE} --for=condition=PodScheduled --timeout=60s`);
      const path = `/api/v1/namespaces/${NAMESPACE}/pods/after/status`;
      await cluster.api('PATCH', path, { status }, 'application/strategic-merge-patch+json');
      expect((await explained('after')).headline).toBe(`pod/after in namespace lab ${first}`);
      await cluster.must(`delete pod after -n ${NAMESPACE} --force --grace-period=0`);
    });

    test('one whose node went down under it, and one that another takes the place of', async () => {
      await running(wanting('low', 'single'));
      const down = {
        type: 'Ready',
        status: 'Unknown',
        reason: 'NodeStatusUnknown',
        message: 'Kubelet stopped posting node status.',
      };
      const ready = async (condition: object) => {
        const path = '/api/v1/nodes/single/status';
        await cluster.api(
          'PATCH',
          path,
          { status: { conditions: [condition] } },
          'application/strategic-merge-patch+json',
        );
      };
      await ready(down);
      const { headline, layers } = await explained('low');
      expect(headline).toBe(
        'pod/low in namespace lab was running on single when that node was last heard of: Kubelet stopped posting node status.',
      );
      expect(layers.filter(({ mark }) => mark === 'problem')).toEqual([]);
      await ready({ ...down, status: 'True', message: '' });
      await cluster.must('apply -f -', {
        apiVersion: 'scheduling.k8s.io/v1',
        kind: 'PriorityClass',
        metadata: { name: 'high' },
        value: 1000,
      });
      await vi.waitUntil(
        async () => {
          // The taint of a node that was down goes a moment later.
          const { body } = await cluster.api('GET', '/api/v1/nodes/single');
          return !body.spec.taints;
        },
        { timeout: 30_000, interval: 200 },
      );
      await cluster.must('apply -f -', wanting('high', 'single', { [GPU]: 1 }, { priorityClassName: 'high' }));
      const ended = await vi.waitUntil(
        async () => {
          const now = await explained('low');
          return now.state === 'ending' && now;
        },
        { timeout: 30_000, interval: 200 },
      );
      expect(ended.headline).toBe(
        'pod/low in namespace lab is being deleted: PreemptionByScheduler: default-scheduler: preempting to accommodate a higher priority pod.',
      );
      const high = await explained('high');
      expect(codesOf(high)).toEqual(['taken']);
      expect(high.layers.find(({ name }) => name === 'scheduler')?.seen).toContain(
        'other pods are preempted for it on single',
      );
    });

    test('one that is starting', async () => {
      await cluster.must('apply -f -', wanting('fresh', 'fresh'));
      await cluster.must(`wait pod/fresh -n ${NAMESPACE} --for=condition=PodScheduled --timeout=60s`);
      const explanation = await explained('fresh');
      expect([explanation.state, codesOf(explanation)]).toEqual(['starting', []]);
    });
  });

  test('what people read: a line a layer, the reason and the next command', async () => {
    const { stdout, code } = await run(`late -n ${NAMESPACE} --exit-code`);
    expect(code).toBe(1);
    // The scheduler of 1.34 says a little more.
    expect(
      stdout.replace('no new claims to deallocate, ', ''),
    ).toBe(`pod/late in namespace lab is Pending, for 1 reason.

✓ pod spec               asks for 1 nvidia.com/gpu
✓ admission              namespace lab has no policy
✓ node labels            selector and affinity let it go to 1 of 18 nodes: full
✓ device plugin          nvidia.com/gpu: full 0 of 4 free
✓ runtime class          none is named: the node's default runtime is used
? driver and hardware    no driver label on the nodes: feature discovery is not there, or not yet
                         next: kubectl describe node full
✗ scheduler              0/18 nodes are available: 1 Insufficient nvidia.com/gpu, 1 node(s) had untolerated taint(s), 1 node(s) were unschedulable, 15 node(s) didn't match Pod's node affinity/selector. preemption: 0/18 nodes are available: 1 No preemption victims found for incoming pod, 17 Preemption is not helpful for scheduling.
                         ✗ all 4 units of nvidia.com/gpu on full are taken by lab/first (3), lab/second (1)
                           next: kubectl describe node full
`);
  });

  test('a namespace: which policy applies, from which label', async () => {
    const { stdout } = await run('namespace team-inference');
    expect(stdout.split('\n').slice(0, 6)).toEqual([
      'namespace team-inference is governed by the policy "latency-inference": namespace label gpugate.dev/policy=latency-inference.',
      '',
      '  SETTING          VALUE                      SOURCE',
      '  mode             enforce                    policy "latency-inference" spec.mode',
      '  sharing          mig                        policy "latency-inference" spec.sharing',
      '  migProfile       1g.10gb                    policy "latency-inference" spec.mig.profile',
    ]);
  });

  test('a tenant who may only view one namespace is told what the scheduler says, and what can not be seen', async () => {
    await cluster.must(`create serviceaccount tenant -n ${NAMESPACE}`);
    const binding = `create rolebinding tenant -n ${NAMESPACE} --clusterrole=view --serviceaccount=${NAMESPACE}:tenant`;
    await cluster.must(binding);
    const config = JSON.parse(await cluster.must('config view --raw -o json'));
    config.users[0].user = { token: (await cluster.must(`create token tenant -n ${NAMESPACE}`)).trim() };
    const file = join(cluster.plane.dir, 'tenant');
    await writeFile(file, JSON.stringify(config));
    await waiting(wanting('mine', 'full'));
    const explanation = await vi.waitUntil(
      async () => {
        const { code, stdout } = await gpugate([
          'explain',
          'mine',
          '-n',
          NAMESPACE,
          '-o',
          'json',
          '--kubeconfig',
          file,
        ]);
        return code === 0 && (JSON.parse(stdout) as Explained);
      },
      { timeout: 30_000, interval: 500 },
    );
    expect(explanation.layers.filter(({ mark }) => mark === 'unknown').map(({ name }) => name)).toEqual([
      'admission',
      'node labels',
      'device plugin',
      'driver and hardware',
    ]);
    expect(reasonsOf(explanation).map(({ text }) => text)).toContain(
      'the scheduler says of 1 node: Insufficient nvidia.com/gpu',
    );
  });

  test('what is not there', async () => {
    const { code, stderr } = await run(`absent -n ${NAMESPACE}`);
    expect(code).toBe(3);
    expect(stderr).toBe(
      'gpugate: pods "absent" not found in namespace lab; where a workload can make no pod, name the workload: deployment/NAME\n',
    );
  });
});

function wanting(
  name: string,
  pool: string | undefined,
  limits: Readonly<Record<string, unknown>> = { [GPU]: 1 },
  spec: object = {},
): object {
  const selector = pool === undefined ? {} : { nodeSelector: { pool } };
  return pod(name, NAMESPACE, [container('c', { limits })], { ...selector, ...spec });
}

function withSpec(object: object, spec: object): object {
  const workload = object as { spec: { template: { spec: object } } };
  const template = { ...workload.spec.template, spec: { ...workload.spec.template.spec, ...spec } };
  return { ...workload, spec: { ...workload.spec, template } };
}

function required(key: string, value: string): object {
  const matchExpressions = [{ key, operator: 'In', values: [value] }];
  return {
    nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [{ matchExpressions }] } },
  };
}

function runtimeClass(name: string): object {
  return { apiVersion: 'node.k8s.io/v1', kind: 'RuntimeClass', metadata: { name }, handler: 'nvidia' };
}

function node(
  name: string,
  resources: Readonly<Record<string, string>>,
  { labels = {}, spec = {}, capacity = resources }: { labels?: object; spec?: object; capacity?: object } = {},
): object {
  const all = { cpu: '16', memory: '64Gi', pods: '110' };
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name, labels: { 'kubernetes.io/hostname': name, pool: name, ...labels } },
    spec,
    status: {
      capacity: { ...all, ...capacity },
      allocatable: { ...all, ...resources },
      conditions: [{ type: 'Ready', status: 'True', reason: 'KubeletReady', message: 'no kubelet' }],
    },
  };
}

/** A claim to a device of a class that no driver serves. */
const CLAIMS = [
  { apiVersion: 'resource.k8s.io/v1', kind: 'DeviceClass', metadata: { name: 'unserved' }, spec: {} },
  {
    apiVersion: 'resource.k8s.io/v1',
    kind: 'ResourceClaim',
    metadata: { name: 'there', namespace: NAMESPACE },
    spec: { devices: { requests: [{ name: 'r', exactly: { deviceClassName: 'unserved' } }] } },
  },
];

/** A pool of one node for each reason, so that no other node explains it. */
const NODES = [
  node('renamed', { 'nvidia.com/gpu.shared': '4' }),
  node('layout', {}, { labels: { 'nvidia.com/mig.config': 'all-1g.10gb', 'nvidia.com/mig.config.state': 'pending' } }),
  node(
    'tainted',
    { [GPU]: '2' },
    {
      spec: { taints: [{ key: 'dedicated', value: 'research', effect: 'NoSchedule' }] },
    },
  ),
  node('full', { [GPU]: '4' }),
  node('roomy', { [GPU]: '2' }),
  node('fresh', { [GPU]: '1' }),
  node('pair', { [GPU]: '2' }),
  node('single', { [GPU]: '1' }),
  node('spare', { [GPU]: '1' }),
  node('cordoned', { [GPU]: '2' }, { spec: { unschedulable: true } }),
  node('unhealthy', { [GPU]: '0' }, { capacity: { [GPU]: '4' } }),
  node('plugin-gone', { [GPU]: '0' }),
];
