import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { container, type Governed, pod, startGoverned } from './governed.ts';

const GPU = 'nvidia.com/gpu';
const SHARED = 'nvidia.com/gpu.shared';
const SLICE = 'nvidia.com/mig-1g.10gb';
const SHARED_SLICE = `${SLICE}.shared`;
const HOST = 'kubernetes.io/hostname';
const STRATEGY = 'nvidia.com/gpu.sharing-strategy';
const A100 = 'NVIDIA-A100-SXM4-80GB';
const TAINT = { key: GPU, value: 'present', effect: 'NoSchedule' };

/** Beside those of test/cluster/nodes.ts: few units each, so that a strategy's nodes can be filled. */
const EXTRA_NODES = [
  node('t4-mps', { 'gpu.product': 'Tesla-T4-SHARED', ...shares('mps', '15360', '3') }, { [GPU]: '3' }),
  node(
    'a100-shared-slices',
    {
      'gpu.product': A100,
      ...shares('none', '81920', '0'),
      'mig.strategy': 'mixed',
      'mig-1g.10gb.sharing-strategy': 'time-slicing',
      'mig-1g.10gb.replicas': '4',
    },
    { [SLICE]: '0', [SHARED_SLICE]: '3' },
  ),
  single('a100-single-1g', '1g.10gb'),
  single('a100-single-2g', '2g.20gb'),
  node('gke-1g', {}, { [GPU]: '3' }, { 'cloud.google.com/gke-gpu-partition-size': '1g.5gb' }),
  node('gke-2g', {}, { [GPU]: '3' }, { 'cloud.google.com/gke-gpu-partition-size': '2g.10gb' }),
  node(
    'a100-40gb-mig',
    { 'gpu.product': 'NVIDIA-A100-SXM4-40GB', ...shares('none', '40960', '0'), 'mig.strategy': 'mixed' },
    { [SLICE]: '4' },
  ),
  node(
    'h100-tainted',
    { 'gpu.product': 'NVIDIA-H100-80GB-HBM3', ...shares('none', '81559', '1') },
    { [GPU]: '2' },
    {},
    { taints: [TAINT] },
  ),
];

const BY_LAYOUT = { exposure: 'selector', nodeLabels: { 'nvidia.com/mig.config': 'all-{profile}' } };
const BY_PARTITION = { exposure: 'selector', nodeLabels: { 'cloud.google.com/gke-gpu-partition-size': '{profile}' } };
const POLICIES = {
  plain: { sharing: 'time-slicing', timeSlicing: { requireSharedNode: true } },
  renamed: { sharing: 'time-slicing', timeSlicing: { resource: SHARED, requireSharedNode: true } },
  'shared-slices': { sharing: 'time-slicing', timeSlicing: { resource: SHARED_SLICE, requireSharedNode: true } },
  mps: { sharing: 'mps', mps: { requireSharedNode: true }, memoryCap: { amount: 'auto', frameworks: [] } },
  'a100-80gb': { sharing: 'mig', mig: { profile: '1g.10gb', products: [A100] } },
  'a100-40gb': { sharing: 'mig', mig: { profile: '1g.10gb', products: ['NVIDIA-A100-SXM4-40GB'] } },
  single: { sharing: 'mig', mig: { profile: '1g.10gb', allowedProfiles: ['2g.20gb'], ...BY_LAYOUT } },
  'single-board': {
    sharing: 'mig',
    mig: { profile: '1g.10gb', allowedProfiles: ['2g.20gb'], products: [A100], ...BY_LAYOUT },
  },
  gke: { sharing: 'mig', mig: { profile: '1g.5gb', ...BY_PARTITION } },
  whole: { sharing: 'exclusive' },
  'whole-a100': { sharing: 'exclusive', exclusive: { products: [A100] } },
  'h100-tolerated': {
    sharing: 'exclusive',
    exclusive: { products: ['NVIDIA-H100-80GB-HBM3'] },
    tolerations: [{ key: GPU, operator: 'Exists', effect: 'NoSchedule' }],
  },
  'h100-not-tolerated': { sharing: 'exclusive', exclusive: { products: ['NVIDIA-H100-80GB-HBM3'] } },
};

describe('kinds of sharing on a real API server and scheduler', () => {
  let cluster: Governed;
  beforeAll(async () => {
    cluster = await startGoverned();
    await cluster.must('apply --server-side -f -', list(EXTRA_NODES));
    await cluster.must('apply --server-side --subresource=status -f -', list(EXTRA_NODES));
    const policies = Object.entries(POLICIES).map(([name, spec]) => ({
      apiVersion: 'gpugate.dev/v1alpha1',
      kind: 'GpuPolicy',
      metadata: { name },
      spec,
    }));
    await cluster.must('apply -f -', list(policies));
    await cluster.must('wait gpupolicies --all --for=condition=Ready --timeout=30s');
    for (const name of Object.keys(POLICIES)) await namespace(name, { 'gpugate.dev/policy': name });
  });
  afterAll(() => cluster?.stop());
  // Units of a node are few, so each test gives back what it took.
  afterEach(() => cluster.must('delete pods -A --all --force --grace-period=0'));

  async function namespace(name: string, labels: Record<string, string>): Promise<void> {
    await cluster.must('create -f -', { apiVersion: 'v1', kind: 'Namespace', metadata: { name, labels } });
    await cluster.must(`wait --for=create serviceaccount/default -n ${name} --timeout=20s`);
  }

  const podsOf = async (name: string) => JSON.parse(await cluster.must(`get pods -n ${name} -o json`)).items;

  /** Where the scheduler puts pods, once it has looked at each: the name of a node, or Pending. */
  async function placed(name: string, pods: readonly object[]): Promise<readonly string[]> {
    await cluster.must('apply -f -', list(pods));
    const decided = () => podsOf(name).then((items) => (items.every(isDecided) ? items : undefined));
    const items: PodItem[] = await vi.waitUntil(decided, { timeout: 60_000, interval: 200 });
    return items.map(({ spec }) => spec.nodeName ?? 'Pending').sort();
  }

  const several = (name: string, count: number, spec: object = {}) =>
    Array.from({ length: count }, (_, index) => pod(`p${index}`, name, [container('c')], spec));

  /** Warnings of a server-side dry run, without their prefix. */
  async function warnings(object: object): Promise<readonly string[]> {
    const { code, stderr } = await cluster.run('apply --dry-run=server -f -', object);
    expect(code, stderr).toBe(0);
    return stderr.split('\n').flatMap((line) => (line.startsWith('Warning: ') ? [line.slice(9)] : []));
  }

  // One pod more than the nodes hold: it waits, while other nodes have units of the same resource free.
  test.each([
    ['plain', 't4-shared', 4, GPU],
    ['renamed', 'a10-shared-renamed', 4, SHARED],
    ['shared-slices', 'a100-shared-slices', 3, SHARED_SLICE],
    ['mps', 't4-mps', 3, GPU],
    ['a100-80gb', 'a100-mig', 7, SLICE],
    ['a100-40gb', 'a100-40gb-mig', 4, SLICE],
    ['single', 'a100-single-1g', 3, GPU],
    ['single-board', 'a100-single-1g', 3, GPU],
    ['gke', 'gke-1g', 3, GPU],
    ['h100-tolerated', 'h100-tainted', 2, GPU],
  ])('%s: pods run on %s and nowhere else', async (name, where, units, resource) => {
    expect(await placed(name, several(name, units + 1))).toEqual(['Pending', ...Array(units).fill(where)].sort());
    for (const { spec } of await podsOf(name)) {
      expect(spec.containers[0].resources).toEqual({ limits: { [resource]: '1' }, requests: { [resource]: '1' } });
    }
  });

  test('whole GPUs are never taken from nodes that share theirs', async () => {
    const nodes = await placed('whole', several('whole', 12));
    for (const node of ['t4-shared', 't4-mps', 'a10-shared-renamed']) expect(nodes).not.toContain(node);
    expect(nodes).not.toContain('Pending');
  });

  test('whole GPUs of one product', async () => {
    const wholes = several('whole-a100', 17);
    const full = [...Array(8).fill('a100-1'), ...Array(8).fill('a100-2')];
    expect(await placed('whole-a100', wholes)).toEqual(['Pending', ...full].sort());
  });

  test('MPS brings its variable in its own syntax', async () => {
    await placed('mps', several('mps', 1));
    const [{ spec }] = await podsOf('mps');
    // 15360 MiB in three shares, less 512 MiB.
    expect(spec.containers[0].env).toEqual(
      expect.arrayContaining([{ name: 'CUDA_MPS_PINNED_DEVICE_MEM_LIMIT', value: '0=4608M' }]),
    );
  });

  test('a taint that the policy does not tolerate keeps its pods off', async () => {
    expect(await placed('h100-not-tolerated', several('h100-not-tolerated', 1))).toEqual(['Pending']);
  });

  describe('what the user says of nodes', () => {
    const terms = (...hosts: readonly string[]) => ({
      affinity: {
        nodeAffinity: {
          requiredDuringSchedulingIgnoredDuringExecution: {
            nodeSelectorTerms: hosts.map((host) => ({
              matchExpressions: [{ key: HOST, operator: 'In', values: [host] }],
            })),
          },
        },
      },
    });

    test('each alternative is narrowed: the one on a shared node is left', async () => {
      const pods = several('plain', 3, terms('a100-1', 't4-shared', 'cpu'));
      expect(await placed('plain', pods)).toEqual(Array(3).fill('t4-shared'));
    });

    test('a pod whose alternatives are all wrong waits rather than run elsewhere', async () => {
      expect(await placed('plain', several('plain', 1, terms('a100-1', 't4-mps')))).toEqual(['Pending']);
    });

    test('so does a pod that is pinned to the wrong node by its selector', async () => {
      const pods = several('plain', 1, { nodeSelector: { [HOST]: 'a100-2' } });
      expect(await placed('plain', pods)).toEqual(['Pending']);
      const [{ status }] = await podsOf('plain');
      expect(status.conditions[0].message).toContain("didn't match Pod's node affinity/selector");
    });

    test('a selector that says the same as the policy is not repeated', async () => {
      const pods = several('plain', 1, { nodeSelector: { [STRATEGY]: 'time-slicing' } });
      expect(await placed('plain', pods)).toEqual(['t4-shared']);
      expect((await podsOf('plain'))[0].spec.affinity).toBeUndefined();
    });

    test('pods of a DaemonSet are left where their controller wants them, with a note', async () => {
      const labels = { app: 'probe' };
      const template = {
        metadata: { labels },
        spec: { containers: [container('c')], nodeSelector: { [HOST]: 'a100-1' } },
      };
      const notes = async () =>
        Number(/gpugate_findings_total\{[^}]*code="GPU130"[^}]*\} (\d+)/.exec(await metrics())?.[1] ?? 0);
      const before = await notes();
      await cluster.must('apply -f -', {
        apiVersion: 'apps/v1',
        kind: 'DaemonSet',
        metadata: { name: 'probe', namespace: 'plain' },
        spec: { selector: { matchLabels: labels }, template },
      });
      await cluster.must('wait pod -l app=probe -n plain --for=create --timeout=30s');
      await cluster.must('wait pod -l app=probe -n plain --for=condition=PodScheduled --timeout=30s');
      const [{ spec }] = await podsOf('plain');
      expect(spec.nodeName).toBe('a100-1');
      expect(spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms).toEqual([
        { matchFields: [{ key: 'metadata.name', operator: 'In', values: ['a100-1'] }] },
      ]);
      expect(await notes()).toBeGreaterThan(before);
      await cluster.must('delete daemonset probe -n plain --cascade=foreground --wait=false');
    });

    const metrics = async () => (await fetch(`${cluster.gpugate.metricsUrl}/metrics`)).text();

    test.each([
      ['client-side', ''],
      ['server-side', ' --server-side'],
    ])('a bare pod with added affinity and tolerations is applied twice %s without a diff', async (how, flag) => {
      const name = 'h100-tolerated';
      const manifest = pod(`twice-${how}`, name, [container('c')], {
        ...terms('h100-tainted', 'a100-1'),
        tolerations: [{ key: 'other', operator: 'Exists' }],
      });
      await cluster.must(`apply${flag} -f -`, manifest);
      const [first] = await podsOf(name);
      const { nodeAffinity } = first.spec.affinity;
      for (const term of nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms) {
        expect(term.matchExpressions.map(({ key }: { key: string }) => key)).toEqual([
          HOST,
          STRATEGY,
          'nvidia.com/gpu.product',
        ]);
      }
      await cluster.must(`apply${flag} -f -`, manifest);
      const [second] = await podsOf(name);
      expect(second.spec).toEqual({ ...first.spec, nodeName: second.spec.nodeName });
      const diff = await cluster.run(`diff${flag} -f -`, manifest);
      expect(diff.stdout + diff.stderr).toBe('');
    });
  });

  describe('wishes of a pod', () => {
    const wishing = (name: string, where: string, annotations: Record<string, string>) => ({
      ...pod(name, where, [container('c')]),
      metadata: { name, namespace: where, annotations },
    });

    test.each([
      ['mig-profile', '2g.20gb'],
      ['min-memory', '10Gi'], // a 1g.10gb has 9.5 GiB
    ])('gpugate.dev/%s: %s gets its slice, on the node that has it', async (key, value) => {
      const pods = [wishing('w', 'team-inference', { [`gpugate.dev/${key}`]: value })];
      expect(await placed('team-inference', pods)).toEqual(['a100-mig']);
      const [{ spec }] = await podsOf('team-inference');
      expect(spec.containers[0].resources.limits).toEqual({ 'nvidia.com/mig-2g.20gb': '1' });
    });

    test('goes into the labels of the node where slices have no name', async () => {
      const pods = [wishing('w', 'single', { 'gpugate.dev/min-memory': '10Gi' })];
      expect(await placed('single', pods)).toEqual(['a100-single-2g']);
    });

    test('gpugate.dev/memory-cap lowers the cap, and is refused above the maximum', async () => {
      await cluster.must('apply -f -', wishing('w', 'team-notebooks', { 'gpugate.dev/memory-cap': '2Gi' }));
      const [{ spec }] = await podsOf('team-notebooks');
      expect(spec.containers[0].env).toEqual(
        expect.arrayContaining([
          { name: 'NVIDIA_GPU_MEMORY_LIMIT', value: '2048' },
          { name: 'XLA_PYTHON_CLIENT_MEM_FRACTION', value: '0.133' },
        ]),
      );
      const above = wishing('above', 'team-notebooks', { 'gpugate.dev/memory-cap': '24Gi' });
      const { code, stderr } = await cluster.run('apply --dry-run=server -f -', above);
      expect([code, stderr]).toEqual([1, expect.stringContaining('GPU142')]);
    });

    test('a profile that the policy does not allow is refused', async () => {
      const pods = wishing('w', 'team-inference', { 'gpugate.dev/mig-profile': '7g.80gb' });
      const { code, stderr } = await cluster.run('apply --dry-run=server -f -', pods);
      expect([code, stderr]).toEqual([
        1,
        expect.stringContaining('GPU111 metadata.annotations[gpugate.dev/mig-profile]'),
      ]);
    });
  });

  describe('what nodes, quotas and DeviceClasses say', () => {
    const untilWarned = (object: object, text: string, wanted = true) =>
      vi.waitUntil(async () => (await warnings(object)).some((line) => line.includes(text)) === wanted, {
        timeout: 30_000,
        interval: 200,
      });
    const ofProfile = (profile: string) => ({
      ...pod('w', 'team-inference', [container('c')]),
      metadata: { name: 'w', namespace: 'team-inference', annotations: { 'gpugate.dev/mig-profile': profile } },
    });

    test('a pod larger than the largest node is warned of', async () => {
      const nine = pod('nine', 'whole', [container('a', { limits: { [GPU]: 8 } }), container('b')]);
      expect(await warnings(nine)).toContain(
        `GPU160 spec: the pod takes 9 ${GPU}, and the largest node has 8. Ask for at most 8 in one pod.`,
      );
    });

    test('a name that no node offers is warned of, until a DeviceClass serves it', async () => {
      const missing = ofProfile('3g.40gb');
      expect(await warnings(missing)).toContainEqual(
        expect.stringMatching(/^GPU160 spec: no node offers nvidia.com\/mig-3g.40gb; nodes offer nvidia.com\/mig-/),
      );
      await cluster.must('create -f -', {
        apiVersion: 'resource.k8s.io/v1',
        kind: 'DeviceClass',
        metadata: { name: 'large-slices' },
        spec: { extendedResourceName: 'nvidia.com/mig-3g.40gb' },
      });
      // Before 1.36 the API server drops the name unless it is told otherwise (DRAExtendedResource, pkg/features), and nothing serves it.
      const { body } = await cluster.api('GET', '/apis/resource.k8s.io/v1/deviceclasses/large-slices');
      await untilWarned(missing, 'GPU160', body.spec.extendedResourceName === undefined);
      await cluster.must('delete deviceclass large-slices');
      await untilWarned(missing, 'GPU160');
    });

    test('a quota and a limit range of the old name are warned of once they are known', async () => {
      const one = pod('one', 'a100-80gb', [container('c')]);
      expect((await warnings(one)).join()).not.toContain('GPU161');
      await cluster.must('create quota gpus -n a100-80gb --hard=requests.nvidia.com/gpu=4');
      await untilWarned(one, 'GPU161');
      expect(await warnings(one)).toContain(
        `GPU161 spec: ResourceQuota gpus limits requests.${GPU}, and nothing limits requests.${SLICE}, which the pod takes. Add requests.${SLICE} to the quota.`,
      );
      await cluster.must('apply -f -', {
        apiVersion: 'v1',
        kind: 'LimitRange',
        metadata: { name: 'ranges', namespace: 'a100-80gb' },
        spec: { limits: [{ type: 'Container', max: { [GPU]: '2' } }] },
      });
      // LimitRanger wants a value to compare with its maximum, so the pod is refused; the warning says why.
      const refused = await vi.waitUntil(
        async () => {
          const { code, stderr } = await cluster.run('apply --dry-run=server -f -', one);
          return stderr.includes('LimitRange ranges') && { code, stderr };
        },
        { timeout: 30_000, interval: 200 },
      );
      expect(refused.code).toBe(1);
      expect(refused.stderr).toContain(
        `LimitRange ranges speaks of ${GPU}, and the pod takes ${SLICE}; a max or min of the old name makes the API server refuse the pod.`,
      );
      expect(refused.stderr).toContain(`maximum ${GPU} usage per Container is 2`);
      await cluster.must('delete quota,limitrange -n a100-80gb --all');
      await vi.waitUntil(
        async () => !(await cluster.run('apply --dry-run=server -f -', one)).stderr.includes('GPU161'),
        {
          timeout: 30_000,
          interval: 200,
        },
      );
    });
  });
});

interface PodItem {
  readonly spec: { readonly nodeName?: string };
  readonly status: { readonly conditions?: readonly { readonly type: string }[] };
}

function isDecided({ status }: PodItem): boolean {
  return status.conditions?.some(({ type }) => type === 'PodScheduled') ?? false;
}

function list(items: readonly object[]): object {
  return { apiVersion: 'v1', kind: 'List', items };
}

function shares(strategy: string, memory: string, replicas: string): Record<string, string> {
  return { 'gpu.sharing-strategy': strategy, 'gpu.memory': memory, 'gpu.replicas': replicas };
}

/** A node whose GPUs are all cut alike, under the single strategy: each slice is nvidia.com/gpu. */
function single(name: string, profile: string): object {
  const labels = {
    'gpu.product': `${A100}-MIG-${profile}`,
    'mig.strategy': 'single',
    'mig.config': `all-${profile}`,
    'mig.config.state': 'success',
    'gpu.sharing-strategy': 'none',
    'gpu.replicas': '1',
  };
  return node(name, labels, { [GPU]: '3' });
}

function node(
  name: string,
  nvidia: Readonly<Record<string, string>>,
  resources: Readonly<Record<string, string>>,
  labels: Readonly<Record<string, string>> = {},
  spec: object = {},
): object {
  const own = Object.entries(nvidia).map(([key, value]) => [`nvidia.com/${key}`, value]);
  const capacity = { cpu: '16', memory: '64Gi', pods: '110', ...resources };
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name, labels: { [HOST]: name, 'kubernetes.io/os': 'linux', ...Object.fromEntries(own), ...labels } },
    spec,
    status: {
      capacity,
      allocatable: capacity,
      conditions: [
        { type: 'Ready', status: 'True', reason: 'KubeletReady', message: 'a Node object without a kubelet' },
      ],
    },
  };
}
