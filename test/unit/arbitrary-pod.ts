import fc from 'fast-check';
import { CAP_VARIABLES } from '../../src/policy/cap-variables.ts';
import { anyText, objectOf } from './arbitrary-json.ts';

export type Json = Record<string, unknown>;

/** Now and then, so that the rule under test is reached by most. */
const rarely = <T>(arbitrary: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> =>
  fc.oneof({ weight: 4, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary });

const sound = fc.constantFrom('1', '1', '1', '1', '2', '1000m', '1.0', '0', '3');
const spelt = fc.constantFrom(
  ...[
    '0',
    '-0',
    '00',
    '007',
    '+1',
    '1.',
    '1.000',
    '1e0',
    '1E3',
    '1k',
    '1Ki',
    '4Gi',
    '2000m',
    '2e3m',
    '0.5',
    '500m',
    '.5',
    '-1',
  ],
  ...[
    '-0.5',
    '1n',
    '999999999n',
    '1000000001n',
    '0.0001',
    '0.9999',
    '1.0001',
    '-1n',
    '1u',
    '1e-10',
    '1e-3',
    '.',
    '+',
    '-',
    '',
  ],
  ...['1 ', ' 1', '1\n', '1,5', '0x1', '1e', '1ee1', '1Kii', 'one', 'null', 'NaN', 'Infinity', '１', '١'],
  ...['2147483647', '2147483648', '9223372036854775807', '9223372036854775808', '9223372036854775', '9223372036854776'],
  ...[
    '9223372036854775807m',
    '18446744073709551616',
    '1e18',
    '1e19',
    '8Ei',
    '1e100',
    '1e-100',
    `1${'0'.repeat(50)}`,
    `1.${'0'.repeat(50)}`,
  ],
);
const grammatical = fc
  .tuple(
    fc.constantFrom('', '', '', '+', '-'),
    fc.stringMatching(/^[0-9]{0,4}$/),
    fc.oneof(fc.constant(''), fc.stringMatching(/^\.[0-9]{0,11}$/)),
    fc.constantFrom(
      '',
      '',
      '',
      'n',
      'u',
      'm',
      'k',
      'M',
      'G',
      'T',
      'P',
      'E',
      'Ki',
      'Mi',
      'Gi',
      'Ti',
      'Pi',
      'Ei',
      'e3',
      'E-3',
      'e+1',
      'e18',
    ),
  )
  .map((parts) => parts.join(''));
const malformed: fc.Arbitrary<unknown> = fc.oneof(
  fc.constantFrom<unknown[]>(null, true, 1, 0, 0.5, -1, 1e3, 1e21, [], ['1'], {}, { __proto__: null }),
  anyText,
);

/** The spelling of one quantity. */
const quantity: fc.Arbitrary<string> = fc.oneof(
  { weight: 10, arbitrary: sound },
  { weight: 2, arbitrary: spelt },
  { weight: 1, arbitrary: grammatical },
);
/** Any spelling, sound ones no more likely than others. */
const anyQuantity: fc.Arbitrary<string> = fc.oneof(sound, spelt, grammatical, grammatical);

const GPU_NAMES = [
  ...[
    'nvidia.com/gpu',
    'nvidia.com/gpu.shared',
    'nvidia.com/mig-1g.10gb',
    'nvidia.com/mig-2g.20gb',
    'nvidia.com/mig-1g.10gb.shared',
  ],
  ...['amd.com/gpu', 'gpu.intel.com/xe', 'example.com/npu'],
] as const;
const OTHER_NAMES = [
  ...[
    'cpu',
    'memory',
    'nvidia.com/gpumem',
    'nvidia.com/hostdev',
    'nvdia.com/gpu',
    'nvidia.com/gpus',
    'nvidia.com/GPU',
    'amd.com/gpus',
  ],
  ...[
    'nvidia.com/mig-',
    'nvidia.com/mig-9g.10gb',
    'nvidia.com/mig-__proto__',
    'nvidia.com/mig-a~1/b',
    'gpu',
    'constructor',
    '__proto__',
  ],
  ...['requests.nvidia.com/gpu', 'nvidia.com/mig-x"\n - GPU001 fake'],
] as const;
const resourceName = fc.oneof(
  { weight: 8, arbitrary: fc.constant('nvidia.com/gpu') },
  { weight: 4, arbitrary: fc.constantFrom(...GPU_NAMES) },
  { weight: 3, arbitrary: fc.constantFrom(...OTHER_NAMES) },
);

interface Shape {
  /** What the API server's decoder would refuse: wrong types. */
  readonly undecodable: boolean;
}

/** Limits and requests: usually alike, sometimes one without the other, null, or missing. */
function resources({ undecodable }: Shape): fc.Arbitrary<unknown> {
  const value = undecodable
    ? fc.oneof({ weight: 9, arbitrary: quantity }, { weight: 1, arbitrary: malformed })
    : quantity;
  const list = fc.dictionary(resourceName, value, { maxKeys: 2, noNullPrototype: true });
  const others = rarely(list).map((names) => names ?? {});
  const alike = fc.tuple(resourceName, quantity, others, fc.boolean()).map(([name, amount, more, both]) => ({
    limits: { cpu: '1', ...more, [name]: amount },
    ...(both ? { requests: { cpu: '1', ...more, [name]: amount } } : {}),
  }));
  const free = fc.record(
    {
      limits: fc.oneof({ weight: 6, arbitrary: list }, { weight: 1, arbitrary: fc.constant(null) }),
      requests: fc.oneof({ weight: 6, arbitrary: list }, { weight: 1, arbitrary: fc.constant(null) }),
      claims: fc.array(fc.record({ name: fc.constantFrom('gpu', 'other') }), { maxLength: 2 }),
      future: fc.constant({ 'a/b': [1, null] }),
    },
    { requiredKeys: [] },
  );
  return fc.oneof(
    { weight: 7, arbitrary: alike },
    { weight: 2, arbitrary: free },
    { weight: 1, arbitrary: fc.constantFrom(null, {}) },
  );
}

const VARIABLES = [
  ...CAP_VARIABLES.flatMap(({ name, insteadOf }) => [name, ...(insteadOf ?? [])]),
  ...[
    'CUDA_DEVICE_MEMORY_LIMIT_0',
    'CUDA_DEVICE_MEMORY_LIMIT_12',
    'CUDA_DISABLE_CONTROL',
    'XLA_PYTHON_CLIENT_ALLOCATOR',
  ],
  ...[
    'NVIDIA_VISIBLE_DEVICES',
    'NVIDIA_VISIBLE_DEVICES',
    'DOCKER_RESOURCE_GPU',
    'NVIDIA_DRIVER_CAPABILITIES',
    'PATH',
    'HOME',
    'A~b/c',
  ],
  'VLLM_GPU_MEMORY_UTILIZATION',
];
const variableValue = fc.oneof(
  fc.constantFrom(
    ...[
      '',
      '0',
      '1',
      '100',
      '512',
      '4096',
      '4097',
      '999999',
      '0.1',
      '0.25',
      '.5',
      '0.99',
      '1.5',
      '1e-3',
      '50%',
      '0%',
      '101%',
      '1e-9%',
    ],
    ...[
      'true',
      'false',
      '1Gi',
      '1g',
      '4096m',
      '0=4096M',
      '0=1G,1=999999M',
      '0=1G,0=999G',
      '$(OTHER)',
      'all',
      'void',
      'none',
      '0,1',
    ],
    ...[
      'per_process_memory_fraction:0.9',
      'expandable_segments:True',
      'roundup_power2_divisions:[256:1,512:2]',
      'a:[,per_process_memory_fraction:0.1',
    ],
    ...[
      'per_process_memory_fraction:0.01,per_process_memory_fraction:0.9',
      ']]',
      '[[',
      '9'.repeat(29),
      '-1',
      '+5',
      '1e400',
      ' 5 ',
    ],
  ),
  fc.stringMatching(/^[0-9.]{1,6}[%mMgGk]?$/),
  fc.string({ maxLength: 8 }),
);
const envEntry: fc.Arbitrary<Json> = fc
  .tuple(fc.constantFrom(...VARIABLES), variableValue, fc.integer({ min: 0, max: 9 }))
  .map(([name, value, kind]) => {
    if (kind === 0) return { name, valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } };
    if (kind === 1) return { name };
    return { name, value };
  });

const plainName = fc.constantFrom('main', 'sidecar', 'init', 'data', 'c1', 'c2', '__proto__', 'constructor');

function container(shape: Shape, withResources: fc.Arbitrary<unknown> = resources(shape)): fc.Arbitrary<Json> {
  const env = shape.undecodable
    ? fc.oneof(
        { weight: 9, arbitrary: fc.array(envEntry, { maxLength: 4 }) },
        { weight: 1, arbitrary: fc.constantFrom(null, {}, [null], [{ value: 'x' }]) },
      )
    : fc.oneof(
        { weight: 9, arbitrary: fc.array(envEntry, { maxLength: 4 }) },
        { weight: 1, arbitrary: fc.constant(null) },
      );
  return fc.record(
    {
      name: shape.undecodable
        ? fc.oneof({ weight: 9, arbitrary: plainName }, { weight: 1, arbitrary: anyText })
        : plainName,
      image: fc.constant('registry.example/app:1'),
      resources: withResources,
      env,
      restartPolicy: fc.constantFrom('Always', undefined),
      args: fc.constantFrom(['--x=1'], []),
      futureField: fc.constantFrom({ a: [{ b: null }] }, 'x'),
    },
    { requiredKeys: ['name', 'image'] },
  );
}

/** Names that differ, as the API server wants them. */
function renamed(containers: readonly Json[], prefix: string): Json[] {
  return containers.map((item, index) => ({ ...item, name: `${prefix}${index}` }));
}

/** Labels of the nodes in arbitrary-world.ts. */
const selector = fc.constantFrom(
  { 'nvidia.com/gpu.product': 'T4' },
  { 'nvidia.com/gpu.product': 'A100' },
  { missing: 'x' },
);
const affinity = fc
  .array(
    fc.record({
      matchExpressions: fc.array(
        fc.record({
          key: fc.constantFrom('nvidia.com/gpu.product', 'nvidia.com/gpu.memory', 'constructor'),
          operator: fc.constantFrom('In', 'NotIn', 'Exists', 'DoesNotExist', 'Gt', 'Lt'),
          values: fc.array(fc.constantFrom('T4', 'A100', '20000'), { maxLength: 2 }),
        }),
        { maxLength: 2 },
      ),
    }),
    { maxLength: 3 },
  )
  .chain((nodeSelectorTerms) =>
    fc.constantFrom<unknown[]>(
      required({ nodeSelectorTerms }),
      required({ nodeSelectorTerms: [...nodeSelectorTerms, null, {}] }),
      required(null),
      { podAffinity: {}, nodeAffinity: null },
      null,
    ),
  );

function required(requiredDuringSchedulingIgnoredDuringExecution: unknown): unknown {
  return { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution } };
}

/** Wishes, and annotations as an earlier round, another tool or a forger leaves them. */
const annotations = fc.dictionary(
  fc.constantFrom(
    ...[
      'gpugate.dev/memory-cap',
      'gpugate.dev/memory-cap',
      'gpugate.dev/mig-profile',
      'gpugate.dev/min-memory',
      'gpugate.dev/original',
    ],
    ...['gpugate.dev/policy', 'kubectl.kubernetes.io/last-applied-configuration', 'example.com/a~b', 'team'],
  ),
  fc.oneof(
    fc.constantFrom(
      ...[
        'auto',
        '0',
        '1Gi',
        '2Gi',
        '4Gi',
        '300Mi',
        '64Gi',
        '10%',
        '25%',
        '50%',
        '100%',
        '0.05%',
        'lots',
        '',
        '-1Gi',
        '9e99',
      ],
      ...[
        '1g.10gb',
        'mig-2g.20gb',
        '9g.99gb',
        '1g.10gb+me',
        '{"main":{"nvidia.com/gpu":"1"},"c0":{"nvidia.com/gpu":"1"}}',
      ],
      ...['{"__proto__":{"nvidia.com/gpu":"1"}}', '{"c0":{"nvidia.com/gpu":1}}', '[]', 'null', '{', '"x"'],
      ...[
        '{"spec":{"containers":[{"name":"c0","resources":{"limits":{"nvidia.com/gpu":0.5}}}]}}',
        'x"\n - GPU001 fake',
      ],
    ),
    fc.string({ maxLength: 6 }),
  ),
  { maxKeys: 3, noNullPrototype: true },
);

function pod(containersOf: (prefix: string, min: number) => fc.Arbitrary<unknown>): fc.Arbitrary<Json> {
  const metadata = fc.record({
    name: fc.constant('pod'),
    annotations: fc.oneof(
      { weight: 2, arbitrary: fc.constant(undefined) },
      { weight: 2, arbitrary: annotations },
      { weight: 1, arbitrary: fc.constant(null) },
    ),
    labels: rarely(fc.constantFrom({ app: 'x' }, null)),
    futureField: rarely(fc.constant({ deep: [[1]] })),
  });
  const spec = fc.record({
    containers: containersOf('c', 1),
    initContainers: rarely(containersOf('i', 0)),
    ephemeralContainers: rarely(fc.constant(null)),
    schedulerName: rarely(fc.constantFrom('default-scheduler', 'kai-scheduler')),
    nodeName: rarely(fc.constantFrom('', 'node-1')),
    nodeSelector: rarely(selector),
    affinity: rarely(affinity),
    tolerations: rarely(
      fc.constantFrom(...[null, [], [{ operator: 'Exists' }], [{ key: 'gpu', value: 'no' }]], [
        { key: 'nvidia.com/gpu', operator: 'Exists', effect: 'NoSchedule' },
      ]),
    ),
    futureField: rarely(fc.constant([{ '/': '~' }])),
  });
  return fc
    .record({
      apiVersion: fc.constant('v1'),
      kind: fc.constant('Pod'),
      metadata,
      spec,
      status: fc.constant({ phase: 'Pending' }),
    })
    .map((object) => JSON.parse(JSON.stringify(object)) as Json);
}

const decodable: Shape = { undecodable: false };
const few = { maxLength: 3, size: 'small' } as const;

/** A pod that the API server can decode: wrong values, but right types. Nulls and missing parents included. */
export const decodablePod: fc.Arbitrary<Json> = pod((prefix, minLength) =>
  fc.oneof(
    { weight: 9, arbitrary: fc.array(container(decodable), { minLength, ...few }).map((all) => renamed(all, prefix)) },
    { weight: 1, arbitrary: fc.array(container(decodable), { minLength, ...few }) },
  ),
);

/** A pod of any quality: wrong types as well. */
export const anyPod: fc.Arbitrary<Json> = fc.oneof(
  decodablePod,
  pod((prefix, minLength) =>
    fc.array(container({ undecodable: true }), { minLength, ...few }).map((all) => renamed(all, prefix)),
  ),
  pod((_, minLength) => fc.array(container({ undecodable: true }), { minLength, ...few })),
);

/** Only limits and requests of known names, sound or not, so that the verdict depends on arithmetic alone. */
export const arithmeticPod: fc.Arbitrary<Json> = fc
  .tuple(
    fc.array(
      fc.record(
        {
          limits: fc.dictionary(fc.constantFrom(...GPU_NAMES), anyQuantity, { maxKeys: 2, noNullPrototype: true }),
          requests: fc.dictionary(fc.constantFrom(...GPU_NAMES), anyQuantity, { maxKeys: 2, noNullPrototype: true }),
        },
        { requiredKeys: [] },
      ),
      { minLength: 1, maxLength: 3 },
    ),
    fc.boolean(),
  )
  .map(([all, equal]) => {
    const containers = all.map(({ limits, requests }, index) => ({
      name: `c${index}`,
      image: 'registry.example/app:1',
      resources:
        equal && limits
          ? { limits, requests: { ...limits } }
          : { ...(limits && { limits }), ...(requests && { requests }) },
    }));
    return { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'pod', namespace: 'team-a' }, spec: { containers } };
  });

/** A pod as a person writes it: sound GPU requests, distinct names, no annotations but wishes. For what is allowed and changed. */
export const soundPod: fc.Arbitrary<Json> = fc
  .tuple(
    decodablePod,
    fc.array(
      fc.tuple(
        container(decodable, fc.constant({})),
        fc.constantFrom('nvidia.com/gpu', 'nvidia.com/gpu', 'nvidia.com/gpu.shared', undefined),
        fc.constantFrom('1', '1', '1000m', '2'),
      ),
      { minLength: 1, maxLength: 3 },
    ),
    fc.constantFrom(undefined, '1Gi', '2Gi', '10%', '50%', 'auto'),
  )
  .map(([base, chosen, wish]) => {
    const containers = chosen.map(([item, name, amount], index) => {
      const env = item.env as readonly Json[] | null | undefined;
      // The last of several entries counts, and kubectl merges env by name, so each name stands once.
      const unique = [...new Map((env ?? []).map((entry) => [entry.name, entry])).values()];
      const limits = { cpu: '1', ...(name === undefined ? {} : { [name]: amount }) };
      return {
        ...item,
        name: `c${index}`,
        resources: { limits, requests: { ...limits } },
        ...(env ? { env: unique } : {}),
      };
    });
    const { initContainers: _, ...spec } = base.spec as Json;
    const metadata = {
      name: 'pod',
      annotations: objectOf(wish === undefined ? [] : [['gpugate.dev/memory-cap', wish]]),
    };
    return { ...base, metadata, spec: { ...spec, containers } };
  });
