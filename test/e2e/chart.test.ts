import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { withTemplateKinds } from '../../src/admission/template-kinds.ts';
import { webhookConfigurations } from '../../src/registration/configurations.ts';
import { EXCLUDED_NAMESPACES } from '../../src/registration/entries.ts';
import { type ControlPlane, startControlPlane } from '../cluster/controlplane.ts';
import { addCrd } from '../cluster/gpugate.ts';
import { CHART, type Helm, helmFor } from '../cluster/helm.ts';
import { mustKubectl } from '../cluster/kubectl.ts';
import { publishedCrds } from '../cluster/published-crds.ts';
import { tableOf } from '../unit/pages.ts';
import { type Manifest, one, render as renderedBy } from './rendered.ts';

let plane: ControlPlane;
let helm: Helm;
beforeAll(async () => {
  plane = await startControlPlane({ log: console.log });
  helm = await helmFor(plane.dir, plane.kubeconfig, console.log);
});
afterAll(() => plane?.stop());

const valueSets = readdirSync(join(CHART, 'ci'));
const render = (...args: readonly string[]) => renderedBy(helm, ...args);
const values = (file: string) => ['--values', join(CHART, 'ci', file)];

describe('the chart with each set of values', () => {
  beforeAll(async () => {
    await addCrd(plane);
    for (const crd of await publishedCrds()) {
      await mustKubectl(plane.kubectl, ['apply', '--server-side', '-f', '-'], crd);
    }
    const types = ['certificates.cert-manager.io', 'prometheusrules.monitoring.coreos.com', 'issuers.cert-manager.io'];
    const crds = [...types, 'servicemonitors.monitoring.coreos.com'].map((name) => `crd/${name}`);
    await mustKubectl(plane.kubectl, ['wait', '--for=condition=Established', '--timeout=60s', ...crds]);
    await mustKubectl(plane.kubectl, ['apply', '--server-side', '-f', '-'], JSON.stringify(restricted('gpugate')));
  });

  test.each(valueSets)('%s passes helm lint --strict', async (file) => {
    const { code, stdout, stderr } = await helm(['lint', '--strict', CHART, ...values(file)]);
    expect(stdout + stderr).toContain('0 chart(s) failed');
    expect(code).toBe(0);
  });

  test.each(valueSets)('the API server accepts every object of %s', async (file) => {
    const manifests = await render(...values(file));
    // A pod is refused where its account isn't there.
    await mustKubectl(
      plane.kubectl,
      ['apply', '--server-side', '--force-conflicts', '-f', '-'],
      list(manifests.filter(({ kind }) => kind === 'ServiceAccount')),
    );
    const { code, stdout, stderr } = await plane.kubectl(
      ['apply', '--server-side', '--force-conflicts', '--dry-run=server', '--validate=strict', '-f', '-'],
      { input: list(manifests) },
    );
    expect(stderr.split('\n').filter((line) => line !== '' && !allowed(file, line))).toEqual([]);
    expect(code).toBe(0);
    expect(stdout.trim().split('\n')).toHaveLength(manifests.length);
  });
});

const list = (items: readonly object[]) => JSON.stringify({ apiVersion: 'v1', kind: 'List', items });

/** On the node's network, restricted Pod Security warns. */
const allowed = (file: string, line: string) =>
  file === 'small-values.yaml' && /^Warning: would violate PodSecurity.*host namespaces/.test(line);

const restricted = (name: string) => ({
  apiVersion: 'v1',
  kind: 'Namespace',
  metadata: {
    name,
    labels: {
      'pod-security.kubernetes.io/enforce': 'restricted',
      'pod-security.kubernetes.io/warn': 'restricted',
    },
  },
});

describe('a value that is wrong is refused by its name', () => {
  test.each([
    ['replicas=none', "at '/replicas': got string, want integer"],
    ['replicas=0', "at '/replicas'"],
    ['replica=3', "additional properties 'replica' not allowed"],
    ['webhooks.failClosed=some', "at '/webhooks/failClosed': value must be one of 'labelled', 'all', 'none'"],
    ['webhooks.timeoutSeconds.mutate=60', "at '/webhooks/timeoutSeconds/mutate'"],
    ['certificates.source=vault', "at '/certificates/source'"],
    ['logLevel=loud', "at '/logLevel'"],
    ['gpuResources[0]=npu', "at '/gpuResources/0'"],
    ['policies.notebooks.sharing=halves', "at '/policies/notebooks/sharing'"],
    ['policies.Notebooks.sharing=mps', "'Notebooks' does not match pattern"],
    ['resources.limits.memory=lots', "at '/resources/limits/memory'"],
    ['resources.limits.memory=100Mi', 'resources.limits.memory: 100Mi is too little; give 160Mi or more'],
    ['certificates.source=secret,certificates.secret.name=tls', 'certificates.secret.caBundle: give the PEM of the CA'],
  ])('%s', async (setting, message) => {
    const { code, stderr } = await helm(['template', 'gpugate', CHART, '--set', setting]);
    expect(stderr).toContain(message);
    expect(code).not.toBe(0);
  });
});

describe('labels that values add', () => {
  const own = ['name', 'instance', 'component', 'part-of', 'version', 'managed-by'].map(
    (name) => `app.kubernetes.io/${name}`,
  );
  const added = (value: string, ...labels: readonly string[]) =>
    Object.fromEntries([...own, 'helm.sh/chart', ...labels].map((label) => [label, value]));
  const everything = values('everything-values.yaml');
  const settings = Object.entries({
    commonLabels: added('everywhere', 'team', 'tier', 'release', 'grafana_dashboard'),
    podLabels: added('pods', 'tier'),
    'serviceMonitor.labels': added('prometheus', 'release'),
    'prometheusRule.labels': added('prometheus', 'release'),
    'dashboard.labels': added('sidecar', 'grafana_dashboard'),
  }).flatMap(([name, labels]) => ['--set-json', `${name}=${JSON.stringify(labels)}`]);

  test('replace none of those that the chart sets', async () => {
    const labelsOf = ({ metadata }: Manifest) =>
      Object.entries(metadata.labels ?? {}).filter(([label]) => own.includes(label) || label === 'helm.sh/chart');
    const labelled = await render(...everything, ...settings);
    for (const manifest of await render(...everything)) {
      const { kind, metadata } = manifest;
      const { labels } = one(labelled, kind, metadata.name).metadata;
      expect(labels, `${kind} ${metadata.name}`).toMatchObject(Object.fromEntries(labelsOf(manifest)));
    }
  });

  test('win over commonLabels where they are nearer to the object', async () => {
    const manifests = await render(...everything, ...settings);
    const found = (kind: string, name?: string) => one(manifests, kind, name).metadata.labels;
    const { labels } = one(manifests, 'Deployment').spec.template.metadata;
    expect(labels).toMatchObject({ team: 'everywhere', tier: 'pods', 'app.kubernetes.io/component': 'webhook' });
    expect(found('ServiceMonitor')).toMatchObject({ team: 'everywhere', release: 'prometheus' });
    expect(found('PrometheusRule')).toMatchObject({ team: 'everywhere', release: 'prometheus' });
    expect(found('ConfigMap', 'gpugate-dashboard')).toMatchObject({ team: 'everywhere', grafana_dashboard: 'sidecar' });
  });
});

describe('the webhook configurations', () => {
  const catalogue = (options: Parameters<typeof webhookConfigurations>[0]) =>
    webhookConfigurations(options) as unknown as readonly Manifest[];
  const target = { service: { namespace: 'gpugate', name: 'gpugate', port: 443 } };
  // Exclusions are a set: the namespace of the release comes after those of the catalogue.
  const entriesOf = (manifests: readonly Manifest[]) =>
    ['MutatingWebhookConfiguration', 'ValidatingWebhookConfiguration'].map((kind) =>
      structuredClone(one(manifests, kind).webhooks).map((entry: Manifest) => {
        for (const { values: names } of entry.namespaceSelector.matchExpressions ?? []) names?.sort();
        return entry;
      }),
    );

  test('are the catalogue', async () => {
    expect(entriesOf(await render())).toEqual(entriesOf(catalogue({ target })));
  });

  test('take in exclusions, resources and kinds as `gpugate manifests` does', async () => {
    const rendered = await render(
      ...[
        '--set',
        'webhooks.excludedNamespaces={monitoring,kube-system}',
        '--set',
        'gpuResources={example.com/npu.v1}',
      ],
      ...[
        '--set-json',
        'templateKinds=[{"group":"example.com","kind":"Run","plural":"runs","paths":["spec.template"]}]',
      ],
    );
    const expected = catalogue({
      target,
      excludedNamespaces: [...EXCLUDED_NAMESPACES, 'monitoring'],
      gpuResources: ['example.com/npu.v1'],
      templateKinds: withTemplateKinds([
        { group: 'example.com', kind: 'Run', plural: 'runs', paths: ['spec.template'] },
      ]),
    });
    expect(entriesOf(rendered)).toEqual(entriesOf(expected));
  });

  test.each([
    ['labelled', ['Fail', 'Ignore']],
    ['all', ['Fail', 'Fail']],
    ['none', ['Ignore', 'Ignore']],
  ])('failClosed: %s', async (choice, expected) => {
    const [mutate, validate] = entriesOf(await render('--set', `webhooks.failClosed=${choice}`));
    const policyOf = (name: string) => validate.find((entry: Manifest) => entry.name === name).failurePolicy;
    expect(['gpu-pods', 'gpu-pods-open'].map((name) => policyOf(`${name}.validate.gpugate.dev`))).toEqual(expected);
    for (const entry of mutate) expect(entry.failurePolicy).toBe('Ignore');
  });

  test.each(['labelled', 'all', 'none'])('docs/security.md tells what fails closed with %s', async (choice) => {
    const page = readFileSync(new URL('../../docs/security.md', import.meta.url), 'utf8');
    const column = ['labelled', 'all', 'none'].indexOf(choice) + 2;
    const told = tableOf(page, 'entry').flatMap((row) => (row[column]?.includes('refused') ? [row[0]] : []));
    const [mutate, validate] = entriesOf(await render('--set', `webhooks.failClosed=${choice}`));
    const closed = [...mutate, ...validate].filter(({ failurePolicy }: Manifest) => failurePolicy === 'Fail');
    const names = closed.map(({ name }: Manifest) => `\`${name.replace('.gpugate.dev', '')}\``);
    expect(names.toSorted()).toEqual(told.toSorted());
  });

  test('further conditions and requirements of namespaces are only put to pods and workloads', async () => {
    const [mutate, validate] = entriesOf(await render(...values('everything-values.yaml')));
    const names = (entry: Manifest) => entry.matchConditions?.map(({ name }: { name: string }) => name) ?? [];
    const apart = [...mutate, ...validate].filter((entry: Manifest) => !names(entry).includes('not-the-robot'));
    expect(apart.map(({ name }: { name: string }) => name)).toEqual([
      'namespaces.validate.gpugate.dev',
      'policies.validate.gpugate.dev',
      'policies-in-use.validate.gpugate.dev',
    ]);
  });
});

describe('the Deployment', () => {
  const templateOf = async (...settings: readonly string[]) =>
    one(await render(...settings.flatMap((setting) => ['--set', setting])), 'Deployment').spec.template;

  test('is not rolled out for what takes effect without a restart', async () => {
    expect(await templateOf('logLevel=debug', 'webhooks.failClosed=all', 'replicas=5')).toEqual(await templateOf());
  });

  test.each([
    ['160Mi', 96],
    ['384Mi', 230],
    ['1Gi', 614],
    ['500M', 286],
  ])('a memory limit of %s gives a heap of %i MiB', async (limit, heap) => {
    const { env } = (await templateOf(`resources.limits.memory=${limit}`)).spec.containers[0];
    expect(env).toContainEqual({ name: 'NODE_OPTIONS', value: `--max-old-space-size=${heap}` });
  });
});
