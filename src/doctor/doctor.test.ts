import { describe, expect, it } from 'vitest';
import type { PolicySet } from '../policy/resolve.ts';
import { gpuPolicySchema } from '../policy/schema.ts';
import { webhookConfigurations } from '../registration/configurations.ts';
import { gpuPolicyCrd } from '../registration/crd.ts';
import { EXCLUDED_NAMESPACES, entries } from '../registration/entries.ts';
import { causeOf } from './causes.ts';
import { diagnose } from './doctor.ts';
import type { DoctorInput, Probe, Tried, Webhook, WebhookConfiguration } from './input.ts';
import { chooseProbes } from './probes.ts';
import { registration } from './registration.ts';
import type { DoctorMark } from './result.ts';

const service = { namespace: 'gpus', name: 'gpugate', port: 443 };
const [mutating, validating] = webhookConfigurations({ target: { service } }) as [
  WebhookConfiguration,
  WebhookConfiguration,
];

const CRD: object = { ...gpuPolicyCrd(), status: { conditions: [{ type: 'Established', status: 'True' }] } };

function inputOf(given: Partial<DoctorInput> = {}): DoctorInput {
  return {
    version: '1.2.3',
    now: new Date('2026-11-29T18:00:00Z'),
    server: 'v1.37.2',
    mutating: { state: 'read', value: inRelease(mutating) },
    validating: { state: 'read', value: inRelease(validating) },
    configuration: 'gpugate',
    entries: entries(),
    excludedNamespaces: EXCLUDED_NAMESPACES,
    crd: { state: 'read', value: CRD },
    services: [],
    handshakes: [],
    outOfReach: [],
    policies: { state: 'read', value: { set: new Map(), objects: [] } },
    namespaces: { state: 'read', value: new Map() },
    probes: [],
    ...given,
  };
}

/** As a chart writes it: the namespace of the release is left out, too. */
function inRelease(configuration: WebhookConfiguration): WebhookConfiguration {
  return changed(configuration, (webhook) => ({
    ...webhook,
    namespaceSelector: {
      matchExpressions:
        webhook.namespaceSelector?.matchExpressions?.map((expression) =>
          expression.operator === 'NotIn' && expression.key === 'kubernetes.io/metadata.name'
            ? { ...expression, values: [...(expression.values ?? []), 'gpus'] }
            : expression,
        ) ?? [],
    },
  }));
}

function changed(configuration: WebhookConfiguration, change: (webhook: Webhook) => Webhook): WebhookConfiguration {
  return { ...configuration, webhooks: (configuration.webhooks ?? []).map(change) };
}

const said = (input: DoctorInput, check: string, wanted: DoctorMark) =>
  diagnose(input)
    .checks.filter(({ name }) => name === check)
    .flatMap((each) => each.said.filter(({ mark }) => mark === wanted).map(({ text }) => text));

describe('registration', () => {
  it('what this version registers is as it should be, in a release of another namespace, too', () => {
    expect(registration(inputOf())).toEqual([expect.objectContaining({ mark: 'ok' })]);
  });

  it('what a chart adds to narrow it is no fault', () => {
    const narrowed = changed(inRelease(validating), (webhook) => ({
      ...webhook,
      matchConditions: [...((webhook.matchConditions as object[]) ?? []), { name: 'not-from-ci', expression: 'true' }],
    }));
    const input = inputOf({ validating: { state: 'read', value: narrowed } });
    expect(said(input, 'registration', 'warning')).toEqual([]);
    expect(said(input, 'registration', 'ok')).toContain(
      'gpu-pods.validate.gpugate.dev has further match conditions: not-from-ci',
    );
  });

  it('its own namespace must be left out', () => {
    const input = inputOf({ mutating: { state: 'read', value: mutating } });
    expect(said(input, 'registration', 'warning')[0]).toBe(
      'gpu-pods.mutate.gpugate.dev does not leave out the namespace gpus: gpugate can keep its own pods from starting',
    );
  });

  it('what may not be read is a question mark', () => {
    const input = inputOf({ mutating: { state: 'forbidden' } });
    expect(said(input, 'registration', 'unknown')).toEqual([
      'MutatingWebhookConfiguration gpugate may not be read by you',
    ]);
    expect(diagnose(input).checks.find(({ name }) => name === 'registration')?.mark).toBe('unknown');
  });
});

describe('versions', () => {
  it.each<[string, Partial<DoctorInput>, DoctorMark, string]>([
    [
      'an API server without match conditions',
      { server: 'v1.27.3-gke.100' },
      'problem',
      'the API server is v1.27.3-gke.100; gpugate needs 1.30, for match conditions',
    ],
    [
      'no CRD',
      { crd: { state: 'absent' } },
      'problem',
      'GpuPolicy is not installed: no policy is known, and GPU pods of namespaces that name one are refused',
    ],
    [
      'a CRD that may not be read',
      { crd: { state: 'forbidden' } },
      'unknown',
      'the CRD of GpuPolicy may not be read by you',
    ],
  ])('%s', (_, given, mark, text) => expect(said(inputOf(given), 'versions', mark)).toContain(text));
});

describe('the Service', () => {
  const state = {
    ...service,
    service: { state: 'read', value: { ports: [443] } },
    endpoints: { state: 'read', value: { ready: 2, notReady: 0 } },
    pods: { state: 'read', value: [{ name: 'a', image: 'registry.example/gpugate:1.2.3', ready: true }] },
  } as const;

  it.each<[string, object, DoctorMark, string]>([
    ['is well', {}, 'ok', '2 pods are ready behind Service gpus/gpugate'],
    [
      'has no such port',
      { port: 8443 },
      'problem',
      'Service gpus/gpugate has no port 8443, which the API server calls; it has 443',
    ],
    [
      'has no ready pod',
      { endpoints: { state: 'read', value: { ready: 0, notReady: 2 } } },
      'problem',
      'no pod behind Service gpus/gpugate is ready',
    ],
    [
      'is in a rollout',
      { endpoints: { state: 'read', value: { ready: 1, notReady: 1 } } },
      'warning',
      '1 pods behind Service gpus/gpugate are ready, 1 are not',
    ],
    [
      'runs another version',
      { pods: { state: 'read', value: [{ name: 'a', image: 'r/gpugate:v1.0.0@sha256:0', ready: true }] } },
      'warning',
      'the pods run 1.0.0, and this gpugate is 1.2.3: it compares with what it would register itself',
    ],
  ])('%s', (_, given, mark, text) =>
    expect(said(inputOf({ services: [{ ...state, ...given }] }), 'service', mark)).toContain(text),
  );
});

describe('configurations of another name', () => {
  const absent = { mutating: { state: 'absent' }, validating: { state: 'absent' } } as const;

  it('that are not there call neither a Service nor a URL', () => {
    const nobody = 'no entry is registered, so the API server calls nothing';
    expect(said(inputOf(absent), 'service', 'unknown')).toEqual([nobody]);
    const empty = { state: 'read', value: { ...validating, webhooks: [] } } as const;
    expect(said(inputOf({ mutating: empty, validating: empty }), 'service', 'unknown')).toEqual([nobody]);
    const forbidden = { mutating: { state: 'forbidden' }, validating: { state: 'forbidden' } } as const;
    expect(said(inputOf(forbidden), 'service', 'unknown')).toEqual(['what the entries call may not be read by you']);
    const url = changed(validating, (webhook) => ({ ...webhook, clientConfig: { url: 'https://g:1' } }));
    expect(said(inputOf({ ...absent, validating: { state: 'read', value: url } }), 'service', 'ok')).toEqual([
      'the entries call a URL, no Service of the cluster',
    ]);
  });

  it.each<[string, Partial<DoctorInput>]>([
    ['absent', absent],
    ['without a caBundle', {}],
    ['with an entry less', { mutating: { state: 'read', value: { ...mutating, webhooks: [] } } }],
    [
      'with a call that fails',
      {
        probes: [
          {
            probe: { name: 'a pod to pass', path: '/', object: {} },
            tried: {
              outcome: 'refused',
              status: 500,
              message:
                'failed calling webhook "guard.validate.gpugate.dev": x509: certificate signed by unknown authority',
            },
          },
        ],
      },
    ],
  ])('are not what `gpugate manifests` makes: %s', (_, given) => {
    const nexts = (configuration: string) =>
      diagnose(inputOf({ ...given, configuration })).checks.flatMap((each) => each.said.map(({ next = '' }) => next));
    expect(nexts('gpugate').filter((next) => next.includes('gpugate manifests'))).not.toEqual([]);
    expect(nexts('foo').filter((next) => next.includes('gpugate manifests'))).toEqual([]);
    expect(nexts('foo').filter((next) => /helm upgrade|kubectl get mutating/.test(next))).not.toEqual([]);
  });
});

describe('policies', () => {
  const spec = { sharing: 'exclusive' };
  const document = { apiVersion: 'gpugate.dev/v1alpha1', kind: 'GpuPolicy', metadata: { name: 'p' }, spec } as const;
  const set: PolicySet = new Map([['p', gpuPolicySchema.parse(document)]]);
  const ready = (status: string) => ({ conditions: [{ type: 'Ready', status, message: 'spec.new: unknown' }] });
  const told = (status: object | undefined, mark: DoctorMark) => {
    const object: object = { metadata: { name: 'p', generation: 2 }, ...(status ? { status } : {}) };
    return said(inputOf({ policies: { state: 'read', value: { set, objects: [object] } } }), 'policies', mark);
  };

  it('that a gpugate has taken in are well', () => {
    expect(told({ observedGeneration: 2, ...ready('True') }, 'ok')).toEqual([
      '1 policy is understood and looked at by gpugate',
    ]);
  });

  it.each<[string, object | undefined]>([
    ['GpuPolicy p has no status: no gpugate has looked at it', undefined],
    ['GpuPolicy p was changed, and no gpugate has looked at it since', { observedGeneration: 1, ...ready('True') }],
    [
      'this gpugate understands GpuPolicy p, and the one that runs does not: spec.new: unknown',
      { observedGeneration: 2, ...ready('False') },
    ],
  ])('%s', (text, status) => expect(told(status, 'problem')).toEqual([text]));
});

describe('dry runs', () => {
  const probe = (name: Probe['name']): Probe => ({ name, path: '/', object: {}, namespace: 'team-a' });
  const refused = (message: string, status = 403): Tried => ({ outcome: 'refused', status, message });
  const created: Tried = { outcome: 'created', object: {}, warnings: [] };

  it.each<[string, Probe['name'], Tried, DoctorMark]>([
    [
      'refused by gpugate',
      'a pod to refuse',
      refused('admission webhook "gpu-pods.mutate.gpugate.dev" denied the request: gpugate: 1 problem\n - GPU002 x'),
      'ok',
    ],
    [
      'refused by the API server alone',
      'a pod to refuse',
      refused('Pod "x" is invalid: must be an integer', 422),
      'problem',
    ],
    ['refused by a quota', 'a pod to refuse', refused('exceeded quota: q'), 'unknown'],
    [
      'refused by RBAC',
      'a pod to refuse',
      refused('pods is forbidden: User "x" cannot create resource "pods" in API group ""'),
      'unknown',
    ],
    ['let by', 'a pod to refuse', created, 'problem'],
    ['not changed', 'a pod to change', created, 'problem'],
    ['passed', 'a pod to pass', created, 'ok'],
    [
      'an ordinary pod that gpugate stops',
      'a pod to pass',
      refused('failed calling webhook "guard.validate.gpugate.dev": connection refused', 500),
      'problem',
    ],
    [
      'an ordinary pod that another stops',
      'a pod to pass',
      refused('admission webhook "policy.example.com" denied the request'),
      'unknown',
    ],
  ])('%s', (_, name, tried, mark) => {
    expect(said(inputOf({ probes: [{ probe: probe(name), tried }] }), 'dry runs', mark)).toHaveLength(1);
  });

  it('a call that fails in one tells why another was let by', () => {
    const failing = refused(
      'failed calling webhook "gpu-pods.validate.gpugate.dev": x509: certificate has expired or is not yet valid',
      500,
    );
    const input = inputOf({
      probes: [
        { probe: probe('a GpuPolicy to refuse'), tried: created },
        { probe: probe('a pod to change'), tried: failing },
      ],
    });
    expect(said(input, 'dry runs', 'problem')[0]).toContain('the certificate that gpugate serves has expired');
  });

  it('are chosen so that they tell most', () => {
    const spec = { sharing: 'mig', mig: { profile: '1g.10gb' } };
    const document = { apiVersion: 'gpugate.dev/v1alpha1', kind: 'GpuPolicy', metadata: { name: 'p' }, spec };
    const policies: PolicySet = new Map([['p', gpuPolicySchema.parse(document)]]);
    const labelled = { 'gpugate.dev/policy': 'p' };
    const namespaces = new Map<string, Record<string, string>>([
      ['kube-system', labelled],
      ['default', {}],
      ['hidden', { 'gpugate.dev/visible-devices': 'void' }],
      ['slices', labelled],
    ]);
    const chosen = (given: object) =>
      chooseProbes({ namespaces, policies, nodes: [], excluded: ['kube-system'], ...given }).probes.map(
        ({ name, namespace }) => `${name} ${namespace ?? ''}`.trim(),
      );
    expect(chosen({})).toEqual([
      'a GpuPolicy to refuse',
      'a pod to refuse slices',
      'a pod to change slices',
      'a pod to pass default',
    ]);
    expect(chosen({ only: 'default' })).toEqual([
      'a GpuPolicy to refuse',
      'a pod to refuse default',
      'a pod to pass default',
    ]);
    expect(chosen({ namespaces: new Map(), only: 'x' })).toEqual([
      'a GpuPolicy to refuse',
      'a pod to refuse x',
      'a pod to pass x',
    ]);
  });
});

// As Go's net, tls and x509 packages and the API server write them.
it.each<[string, RegExp]>([
  [
    'failed to call webhook: Post "https://127.0.0.1:1/validate?timeout=5s": dial tcp 127.0.0.1:1: connect: connection refused',
    /not running/,
  ],
  [
    'tls: failed to verify certificate: x509: certificate signed by unknown authority (possibly because of "x509: ECDSA verification failure")',
    /caBundle is not that/,
  ],
  ['tls: failed to verify certificate: x509: certificate has expired or is not yet valid: current time', /expired/],
  ['tls: failed to verify certificate: x509: certificate is valid for a.b.svc, not gpugate.gpus.svc', /other names/],
  [
    "tls: failed to verify certificate: x509: cannot validate certificate for 127.0.0.1 because it doesn't contain any IP SANs",
    /other names/,
  ],
  ['no endpoints available for service "gpugate"', /no ready pod/],
  ['service "gpugate" not found', /does not exist/],
  ['context deadline exceeded', /no answer came in time/],
  ['dial tcp: lookup x on 10.0.0.10:53: no such host', /find the way/],
  ['remote error: tls: certificate required', /client certificate/],
  ['unable to load root certificates: unable to parse bytes as PEM block', /no certificate/],
  ['http: server gave HTTP response to HTTPS client', /plain HTTP/],
  ['EOF', /broke off/],
])('%s', (message, text) => {
  const { text: told, next } = causeOf(message, 'gpus', 'gpugate');
  expect(told).toMatch(text);
  expect(next).not.toMatch(/NAMESPACE|RENEW/);
});
