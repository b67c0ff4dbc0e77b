import fc from 'fast-check';
import type { NodeInfo } from '../../src/admission/snapshot.ts';
import type { ClusterSource, Labels } from '../../src/cluster/source.ts';
import type { PolicySet } from '../../src/policy/resolve.ts';
import { API_VERSION, type GpuPolicy, gpuPolicySchema } from '../../src/policy/schema.ts';
import { createJudge, type Judge } from '../../src/server/judge.ts';

/** Everything that a verdict depends on beside the object. */
export interface World {
  readonly policies: readonly GpuPolicy[];
  readonly labels: Labels;
  readonly nodes: readonly NodeInfo[];
}

const optional = (model: Record<string, fc.Arbitrary<unknown>>, requiredKeys: string[]) =>
  fc.record(model, { requiredKeys });
const multiple = fc.constantFrom('deny', 'warn', 'allow');
const profile = fc.constantFrom('1g.10gb', '2g.20gb', '1g.10gb.me', '7g.80gb');
const common = {
  mode: fc.constantFrom('enforce', 'enforce', 'enforce', 'warn', 'audit'),
  otherSchedulers: fc.constantFrom([], [], ['kai-scheduler']),
  maxGpus: fc.oneof(
    { weight: 3, arbitrary: fc.constant({}) },
    {
      weight: 1,
      arbitrary: optional({ perContainer: fc.integer({ min: 0, max: 4 }), perPod: fc.integer({ min: 0, max: 6 }) }, []),
    },
  ),
  visibleDevices: fc.constantFrom('ignore', 'warn', 'void', 'deny'),
  templates: fc.constantFrom('off', 'warn', 'deny'),
  tolerations: fc.constantFrom(
    [],
    [{ key: 'nvidia.com/gpu', operator: 'Exists', effect: 'NoSchedule' }],
    [
      { key: 'gpu', value: 'yes' },
      { key: 'gpu', operator: 'Exists' },
    ],
  ),
};
const products = fc.constantFrom(undefined, undefined, undefined, ['T4'], ['A100', 'H100']);
const FRAMEWORKS = ['nvidia', 'jax', 'tensorflow', 'cupy', 'paddle', 'pytorch', 'hami-core', 'tgi'] as const;
const memoryCap = fc.record(
  {
    amount: fc.constantFrom('auto', 'auto', 'auto', 'auto', '4Gi', '2Gi', '25%', '10%', '100%', '0', '300Mi'),
    max: fc.constantFrom('4Gi', '4Gi', '6Gi', '16Gi'),
    reserve: fc.constantFrom('0', '512Mi', '512Mi', '15Gi'),
    fallback: fc.constantFrom('1Gi', '4Gi'),
    frameworks: fc.subarray([...FRAMEWORKS]),
  },
  { requiredKeys: ['amount'] },
);
const sharedBlock = fc.record(
  {
    resource: fc.constantFrom('nvidia.com/gpu', 'nvidia.com/gpu.shared', 'nvidia.com/mig-1g.10gb.shared'),
    multiple,
    requireSharedNode: fc.boolean(),
    products,
  },
  { requiredKeys: [] },
);
const allowedProfiles = fc.subarray(['1g.10gb', '2g.20gb', '7g.80gb'], { minLength: 1 });
const mig = fc
  .tuple(
    optional({ profile, allowedProfiles, multiple, products }, ['profile']),
    fc.constantFrom({}, {}, { exposure: 'selector', nodeLabels: { 'nvidia.com/mig.config': 'all-{profile}' } }),
  )
  .map(([block, exposure]) => ({ ...block, ...exposure }));

/** The spec of a policy as an admin writes it, of every kind of sharing. */
const spec = fc.oneof(
  { weight: 1, arbitrary: optional(common, []) },
  {
    weight: 1,
    arbitrary: optional({ ...common, sharing: fc.constant('exclusive'), exclusive: optional({ products }, []) }, [
      'sharing',
    ]),
  },
  {
    weight: 4,
    arbitrary: optional({ ...common, sharing: fc.constant('time-slicing'), timeSlicing: sharedBlock, memoryCap }, [
      'sharing',
      'memoryCap',
    ]),
  },
  {
    weight: 1,
    arbitrary: optional({ ...common, sharing: fc.constant('mps'), mps: sharedBlock, memoryCap }, [
      'sharing',
      'memoryCap',
    ]),
  },
  { weight: 2, arbitrary: optional({ ...common, sharing: fc.constant('mig'), mig }, ['sharing', 'mig']) },
);

/** GpuPolicy documents that the schema takes; an amount above its maximum is not one. */
const policy = (name: string): fc.Arbitrary<GpuPolicy> =>
  spec
    .map((value) =>
      gpuPolicySchema.safeParse({ apiVersion: API_VERSION, kind: 'GpuPolicy', metadata: { name }, spec: value }),
    )
    .filter((result) => result.success)
    .map((result) => result.data as GpuPolicy);

const labels: fc.Arbitrary<Labels> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.constantFrom<Labels[]>({ 'gpugate.dev/policy': 'p' }, { 'gpugate.dev/policy': 'p', team: 'a' }, {}),
  },
  {
    weight: 4,
    arbitrary: fc.record(
      {
        'gpugate.dev/policy': fc.constantFrom('p', 'p', 'p', 'nowhere', ''),
        'gpugate.dev/mode': fc.constantFrom('enforce', 'warn', 'audit', 'Enforce'),
        'gpugate.dev/sharing': fc.constantFrom('exclusive', 'time-slicing', 'mps', 'mig', 'x'),
        'gpugate.dev/mig-profile': fc.constantFrom('1g.10gb', 'mig-2g.20gb', '9g.99gb'),
        'gpugate.dev/memory-cap': fc.constantFrom('auto', '1Gi', '8Gi', '64Gi', '0', 'x'),
        'gpugate.dev/max-gpus': fc.constantFrom('0', '1', '4', '-1'),
        'gpugate.dev/visible-devices': fc.constantFrom('ignore', 'warn', 'void', 'deny', 'x'),
        'gpugate.dev/constructor': fc.constant('x'),
      },
      { requiredKeys: [] },
    ) as fc.Arbitrary<Labels>,
  },
);

interface Make {
  readonly product: string;
  readonly memory: string;
  readonly replicas: string;
  readonly strategy: string;
  readonly resource: string;
}

/** A node as feature discovery labels it. */
function nodeOf({ product, memory, replicas, strategy, resource }: Make, index: number): NodeInfo {
  const labels = {
    'nvidia.com/gpu.product': product,
    'nvidia.com/gpu.memory': memory,
    'nvidia.com/gpu.replicas': replicas,
    'nvidia.com/gpu.sharing-strategy': strategy,
  };
  return { name: `node-${index}`, labels, allocatable: { [resource]: '8' } };
}

/** Time-sliced GPUs whose sizes may differ. */
const shared = fc.record<Make>({
  product: fc.constantFrom('T4', 'T4', 'T4', 'A100'),
  memory: fc.constantFrom('16384', '16384', '15360', '40960'),
  replicas: fc.constantFrom('2', '4', '4', '8'),
  strategy: fc.constant('time-slicing'),
  resource: fc.constant('nvidia.com/gpu'),
});
const mixed = fc.record<Make>({
  product: fc.constantFrom('T4', 'A100'),
  memory: fc.constantFrom('16384', '40960', '0', 'x'),
  replicas: fc.constantFrom('1', '4', '8'),
  strategy: fc.constantFrom('time-slicing', 'mps', 'none'),
  resource: fc.constantFrom('nvidia.com/gpu', 'nvidia.com/gpu.shared', 'nvidia.com/mig-1g.10gb', 'cpu'),
});
const nodes: fc.Arbitrary<readonly NodeInfo[]> = fc
  .oneof(
    { weight: 2, arbitrary: fc.array(shared, { minLength: 1, maxLength: 3 }) },
    { weight: 1, arbitrary: fc.array(mixed, { maxLength: 4 }) },
  )
  .map((makes) => makes.map(nodeOf));

/** Policies, a namespace's labels, and nodes. */
export const world: fc.Arbitrary<World> = fc.record({
  policies: fc
    .tuple(policy('p'), fc.option(policy('default'), { nil: undefined, freq: 4 }))
    .map(([p, fallback]) => (fallback ? [p, fallback] : [p])),
  labels,
  nodes,
});

/** A world whose namespace is governed by its policy `p`, enforced and understood. */
export const enforcing: fc.Arbitrary<World> = world.map(({ policies, nodes: all }) => ({
  policies: policies.map((item) => ({ ...item, spec: { ...item.spec, mode: 'enforce' as const } })),
  labels: { 'gpugate.dev/policy': 'p' },
  nodes: all,
}));

/** Counted as a GPU by configuration. */
export const EXTRA_GPU = 'example.com/npu';

export function judgeOf({ policies, labels: namespaceLabels, nodes: all }: World): Judge {
  const set: PolicySet = new Map(policies.map((item) => [item.metadata.name, item]));
  const cluster: ClusterSource = {
    known: () => namespaceLabels,
    namespaceLabels: async () => ({ found: true, labels: namespaceLabels }),
    namespaces: () => new Map(),
    nodes: () => all,
    synced: () => true,
    watches: () => [],
    close: async () => undefined,
  };
  return createJudge({ cluster, policies: { current: () => set }, gpuResources: [EXTRA_GPU] });
}

/** A namespace of one policy, for examples; time-sliced nodes of one make, by memory and replicas. */
export function worldOf(spec: object, sizes: readonly (readonly [memory: string, replicas: string])[] = []): World {
  const document = { apiVersion: API_VERSION, kind: 'GpuPolicy', metadata: { name: 'p' }, spec };
  const makes = sizes.map(([memory, replicas]) => ({
    product: 'T4',
    memory,
    replicas,
    strategy: 'time-slicing',
    resource: 'nvidia.com/gpu',
  }));
  return {
    policies: [gpuPolicySchema.parse(document)],
    labels: { 'gpugate.dev/policy': 'p' },
    nodes: makes.map(nodeOf),
  };
}
