import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Answer, readReview, writeReview } from '../../src/admission/review.ts';
import type { Judgement } from '../../src/server/judge.ts';
import { anyJson, anyText, objectOf } from './arbitrary-json.ts';
import { anyPod, type Json } from './arbitrary-pod.ts';
import { applied, ask, RUNS, requestOf, TIMEOUT } from './arbitrary-review.ts';
import { judgeOf, world, worldOf } from './arbitrary-world.ts';

const KINDS = [
  ['', 'Pod'],
  ['', 'Pod'],
  ['', 'Namespace'],
  ['', 'ReplicationController'],
  ['apps', 'Deployment'],
  ['apps', 'DaemonSet'],
  ['batch', 'Job'],
  ['batch', 'CronJob'],
  ['gpugate.dev', 'GpuPolicy'],
  ['constructor', '__proto__'],
] as const;
const kind = fc.constantFrom(...KINDS).map(([group, name]) => ({ group, version: 'v1', kind: name }));
const operation = fc.constantFrom('CREATE', 'UPDATE', 'DELETE', 'CONNECT', 'constructor', '');
const subResource = fc.constantFrom(undefined, undefined, 'ephemeralcontainers', 'resize', 'status', '__proto__');
const webhook = fc.constantFrom('mutate', 'validate');
const FAKE = 'a"\n - GPU001 fake';

const TERMS = [
  'spec',
  'affinity',
  'nodeAffinity',
  'requiredDuringSchedulingIgnoredDuringExecution',
  'nodeSelectorTerms',
];

/** A pod with something of another kind put into one of the places that are read. */
const damaged = fc
  .tuple(
    anyPod,
    fc.constantFrom(
      ...[['metadata'], ['metadata', 'annotations'], ['metadata', 'labels'], ['metadata', 'ownerReferences'], ['spec']],
      ...[
        ['spec', 'containers'],
        ['spec', 'containers', '0'],
        ['spec', 'containers', '0', 'name'],
        ['spec', 'ephemeralContainers'],
      ],
      ...[
        ['spec', 'containers', '0', 'env'],
        ['spec', 'containers', '0', 'env', '0'],
        ['spec', 'containers', '0', 'resources'],
      ],
      ...[
        ['spec', 'containers', '0', 'resources', 'limits'],
        ['spec', 'containers', '0', 'resources', 'limits', 'nvidia.com/gpu'],
      ],
      ...[
        ['spec', 'containers', '0', 'resources', 'claims'],
        ['spec', 'nodeSelector'],
        ['spec', 'tolerations'],
        ['spec', 'affinity'],
      ],
      ...[
        ['metadata', 'annotations', 'gpugate.dev/original'],
        ['metadata', 'annotations', 'gpugate.dev/memory-cap'],
      ],
      ['metadata', 'annotations', 'kubectl.kubernetes.io/last-applied-configuration'],
      [...TERMS, '0', 'matchExpressions', '0', 'key'],
      [...TERMS, '0', 'matchExpressions', '0', 'values', '0'],
      TERMS,
    ),
    fc.oneof({ weight: 4, arbitrary: anyJson }, { weight: 1, arbitrary: fc.constant({ toString: 1, valueOf: null }) }),
    fc.boolean(),
  )
  .map(([pod, path, value, asText]) => placed(pod, path, asText ? JSON.stringify(value) : value));
const object = fc.oneof(
  { weight: 2, arbitrary: anyJson },
  { weight: 4, arbitrary: damaged },
  { weight: 1, arbitrary: damaged.map((template) => ({ metadata: {}, spec: { template } })) },
  { weight: 1, arbitrary: fc.record({ metadata: fc.record({ labels: anyJson }) }) },
);

describe('whatever comes in', { timeout: TIMEOUT }, () => {
  it('is judged without throwing, with a valid answer and a patch that applies', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.record({ world, webhook, kind, operation, subResource, object, oldObject: object, name: anyText }),
        async ({ world: around, webhook: path, ...details }) => {
          if (details.kind.kind === 'Namespace') details.object = withTextLabels(details.object);
          const judgement = await ask(judgeOf(around), path, details.object, details);
          // Policies are written by cluster admins: the text of their mistakes is not held to the line here.
          const lines = details.kind.kind === 'GpuPolicy' ? undefined : judgement;
          expectValid(writeReview('admission.k8s.io/v1', 'a-uid', judgement.answer), 'a-uid', lines);
          applied(details.object, judgement.answer.patch);
        },
      ),
      { numRuns: RUNS * 4 },
    );
  });

  it('is read without throwing, and never changes what is read', () => {
    const envelope = fc.record(
      {
        apiVersion: fc.oneof(fc.constantFrom('admission.k8s.io/v1', 'admission.k8s.io/v1beta1'), anyJson),
        kind: fc.oneof({ weight: 4, arbitrary: fc.constant('AdmissionReview') }, { weight: 1, arbitrary: anyJson }),
        request: fc.oneof(
          anyJson,
          fc
            .tuple(
              fc.constant(requestOf({})),
              fc.constantFrom('uid', 'kind', 'operation', 'object', '__proto__', 'name', 'dryRun'),
              anyJson,
            )
            .map(([request, key, value]) => objectOf([...Object.entries(request), [key, value]])),
        ),
      },
      { requiredKeys: [] },
    );
    fc.assert(
      fc.property(fc.oneof(anyJson, envelope), (body) => {
        const before = JSON.stringify(body);
        const read = readReview(body);
        expect(JSON.stringify(body)).toBe(before);
        const uid = read.ok ? read.request.uid : read.uid;
        const given = (body as { request?: { uid?: unknown } } | null)?.request?.uid;
        if (typeof given === 'string' && given !== '') expect(uid).toBe(given);
        if (read.ok) {
          expect(Object.getPrototypeOf(read.request)).toBe(Object.prototype);
          return;
        }
        expect(read.code).toBe(400);
        expect(read.message).not.toMatch(CONTROL);
        const answer: Answer = {
          allowed: false,
          code: read.code,
          message: read.message,
          warnings: [],
          auditAnnotations: {},
        };
        expectValid(writeReview(read.apiVersion, uid, answer), uid);
      }),
      { numRuns: RUNS * 4 },
    );
  });

  it('is judged when there are objects where text belongs', async () => {
    const object = { toString: 1, valueOf: null };
    const nodeSelectorTerms = [{ matchExpressions: [{ key: object, operator: 'In', values: [object] }] }];
    const limits = { 'nvidia.com/gpu': '1' };
    const spec = {
      schedulerName: object,
      affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms } } },
      tolerations: [{ key: object, value: object, effect: object }],
      containers: [
        {
          name: object,
          env: [{ name: object, value: object }],
          resources: { limits, requests: { ...limits, cpu: object } },
        },
      ],
    };
    const pod = {
      metadata: { name: object, annotations: { 'gpugate.dev/memory-cap': object }, ownerReferences: [object] },
      spec,
    };
    const around = worldOf({ sharing: 'time-slicing', memoryCap: { amount: 'auto' } }, [['16384', '4']]);
    const { changes } = await ask(judgeOf(around), 'mutate', pod);
    expect(changes).toEqual([]);
    const old = { ...pod, metadata: { annotations: { 'gpugate.dev/policy': 'p' } } };
    await ask(judgeOf(around), 'mutate', pod, { operation: 'UPDATE', oldObject: old });
  });

  it.each(['[', '{"a":'])('is judged when it is nested as deep as the API server decodes: %s', async (open) => {
    const deep = JSON.parse(`${open.repeat(9990)}1${(open === '[' ? ']' : '}').repeat(9990)}`) as unknown;
    for (const [key, value] of [
      ['nvidia.com/gpu', deep],
      ['cpu', deep],
    ] as const) {
      const pod = {
        metadata: { annotations: deep },
        spec: { affinity: deep, containers: [{ name: 'c', env: [deep], resources: { limits: { [key]: value } } }] },
      };
      const around = { policies: [], labels: { 'gpugate.dev/sharing': 'time-slicing' }, nodes: [] };
      const { answer } = await ask(judgeOf(around), 'mutate', pod);
      expect(answer.allowed).toBe(key === 'cpu');
      const update = {
        operation: 'UPDATE',
        kind: { group: 'apps', version: 'v1', kind: 'Deployment' },
        oldObject: { spec: { template: deep } },
      };
      await ask(judgeOf(around), 'validate', { spec: { template: pod } }, update);
      await ask(judgeOf(around), 'mutate', pod, { operation: 'UPDATE', oldObject: pod });
    }
  });

  it.each([
    ['pod', { name: FAKE }, {}],
    ['container', {}, { name: FAKE }],
    ['resource', {}, { name: 'c', resources: { limits: { [`nvidia.com/mig-${FAKE}`]: '0.5' } } }],
    ['resource', {}, { name: 'c', resources: { requests: { [`nvidia.com/mig-${FAKE}`]: '1' } } }],
    ['quantity', {}, { name: 'c', resources: { limits: { 'nvidia.com/gpu': FAKE } } }],
    ['variable', {}, { name: 'c', env: [{ name: 'NVIDIA_VISIBLE_DEVICES', value: FAKE }] }],
  ])('the name of a %s can not fake a line of a denial', async (_, details, container) => {
    const pod = { spec: { containers: [{ resources: { limits: { 'nvidia.com/gpu': '0.5' } }, ...container }] } };
    const around = {
      policies: [],
      labels: {
        'gpugate.dev/sharing': 'mig',
        'gpugate.dev/mig-profile': '1g.10gb',
        'gpugate.dev/visible-devices': 'deny',
      },
      nodes: [],
    };
    const { answer } = await ask(judgeOf(around), 'mutate', pod, details);
    expect(answer.allowed).toBe(false);
    expect(answer.message?.split('\n').length).toBe(1 + (answer.causes?.length ?? 0));
    expect(answer.message?.replaceAll('\n', '')).not.toMatch(CONTROL);
  });

  it('leaves Object.prototype alone', () => {
    expect(Object.keys(Object.prototype)).toEqual([]);
    expect(({} as Json).polluted).toBeUndefined();
  });
});

function withTextLabels(value: unknown): unknown {
  const labels = (value as { metadata?: { labels?: Json } } | null)?.metadata?.labels ?? {};
  const texts = Object.entries(labels).map(([key, label]) => [key, JSON.stringify(label) ?? ''] as const);
  return placed(value, ['metadata', 'labels'], objectOf(texts));
}

const CONTROL = /\p{Cc}/u;
/** validation.IsQualifiedName without a prefix, which is the webhook's name. */
const QUALIFIED = /^([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]$/;

function expectValid(review: object, uid: string, judgement?: Judgement): void {
  const {
    apiVersion,
    kind: name,
    response,
  } = JSON.parse(JSON.stringify(review)) as { apiVersion: string; kind: string; response: Json };
  expect(apiVersion).toMatch(/^admission\.k8s\.io\/v1(beta1)?$/);
  expect(name).toBe('AdmissionReview');
  expect(response.uid).toBe(uid);
  expect(typeof response.allowed).toBe('boolean');
  expect('patch' in response).toBe('patchType' in response);
  if ('patch' in response) {
    expect(response.allowed).toBe(true);
    expect(response.patchType).toBe('JSONPatch');
    const patch = JSON.parse(Buffer.from(String(response.patch), 'base64').toString()) as unknown[];
    expect(patch.length).toBeGreaterThan(0);
  }
  for (const warning of (response.warnings ?? []) as string[]) {
    expect([...warning].length).toBeLessThanOrEqual(256);
    expect(warning.trim()).not.toBe('');
    expect(warning).not.toMatch(CONTROL);
  }
  expect(((response.warnings ?? []) as string[]).length).toBeLessThanOrEqual(8);
  for (const [key, value] of Object.entries((response.auditAnnotations ?? {}) as Json)) {
    expect(key).toMatch(QUALIFIED);
    expect(key.length).toBeLessThanOrEqual(63);
    expect(typeof value).toBe('string');
  }
  const status = response.status as { code: number; message: string; details?: { causes: Json[] } } | undefined;
  expect(status !== undefined).toBe(!response.allowed);
  if (!status) return;
  expect(status.code).toBeGreaterThanOrEqual(400);
  expect(status.message).not.toBe('');
  if (judgement?.answer.code !== 403) return;
  // One line for each problem, so that a name can't fake another.
  const [head, ...lines] = status.message.split('\n');
  expect(head).toMatch(/^gpugate: \d+ problems? /);
  expect(lines.length).toBe(status.details?.causes.length);
  for (const line of lines) {
    expect(line).toMatch(/^ - GPU\d{3} /);
    expect(line).not.toMatch(CONTROL);
  }
}

/** A copy of a value with another one at a path, whose missing parents are made. */
function placed(root: unknown, [key, ...rest]: readonly string[], value: unknown): unknown {
  if (key === undefined) return value;
  const array = /^\d+$/.test(key);
  const parent = typeof root === 'object' && root !== null && Array.isArray(root) === array ? root : array ? [] : {};
  const inner = placed((parent as Json)[key], rest, value);
  return array ? Object.assign([...(parent as unknown[])], { [key]: inner }) : { ...parent, [key]: inner };
}
