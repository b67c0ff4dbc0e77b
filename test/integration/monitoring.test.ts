import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { connect } from 'node:tls';
import { pino } from 'pino';
import { Registry } from 'prom-client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { OF_THE_API_SERVER, registered } from '../../scripts/metrics.ts';
import { keepCertificates } from '../../src/certificates/keep.ts';
import { certificateMetrics } from '../../src/certificates/metrics.ts';
import { termsFor } from '../../src/certificates/terms.ts';
import { FakeObjects } from '../cluster/fake-objects.ts';
import { type Exported, readExposition } from '../monitoring/exposition.ts';
import { alerts, dashboard, queries } from '../monitoring/files.ts';
import { readQuery } from '../monitoring/promql.ts';
import { anchorsOf } from '../unit/pages.ts';
import { client } from './client.ts';
import { serve } from './gpugate.ts';

const ROOT = new URL('../../', import.meta.url);

/** Labels that Prometheus adds to whatever it scrapes. */
const TARGET = ['instance', 'job', 'pod', 'namespace'];

/** What Prometheus itself writes of each target. */
const OF_PROMETHEUS = ['up'];

const described = new Map(
  [...registered().getMetricsAsArray(), ...OF_THE_API_SERVER].map((metric) => {
    const { name, help, labelNames } = metric as unknown as {
      name: string;
      help: string;
      labelNames: readonly string[];
    };
    // A histogram as Prometheus stores it has `le` beside its own labels.
    return [name, { help, labelNames: ['le', ...labelNames] }] as const;
  }),
);

let exported: ReadonlyMap<string, Exported>;
let server: Awaited<ReturnType<typeof serve>>;
beforeAll(async () => {
  const demo = (path: string) => new URL(`deploy/${path}`, ROOT).pathname;
  server = await serve([
    ...['--policies', demo('policies'), '--no-welcome'],
    ...['--namespaces', demo('demo/namespaces.yaml'), '--nodes', demo('demo/nodes.yaml')],
  ]);
  const { send, close } = client(server.port, server.ca);
  const headers = { 'content-type': 'application/json' };
  for (const review of ['pod-create-fraction', 'pod-create-whole']) {
    const body = readFileSync(new URL(`test/reviews/${review}.json`, ROOT));
    for (const path of ['/mutate', '/validate']) await send({ path, headers, body });
  }
  await send({ path: '/mutate', headers, body: 'no review' });
  close();
  await distrust(server.port);
  const text = await (await fetch(`http://127.0.0.1:${server.metricsPort}/metrics`)).text();
  exported = new Map([...readExposition(text), ...readExposition(await exportedOfCertificates())]);
});
afterAll(() => server?.remove());

/** Ends a handshake as an API server does whose caBundle is another one's. */
function distrust(port: number): Promise<void> {
  return new Promise((resolve) => {
    const socket = connect({ host: '127.0.0.1', port, maxVersion: 'TLSv1.3' });
    socket.on('error', () => resolve());
  });
}

/** What a server exports beside with --cert-secret, once it has made certificates and published them. */
async function exportedOfCertificates(): Promise<string> {
  const api = new FakeObjects();
  await api.start();
  for (const resource of ['mutatingwebhookconfigurations', 'validatingwebhookconfigurations']) {
    const webhooks = [{ name: 'a', clientConfig: { url: 'https://x' } }];
    api.put(`/apis/admissionregistration.k8s.io/v1/${resource}/gpugate`, { metadata: { name: 'gpugate' }, webhooks });
  }
  const registry = new Registry();
  const kept = keepCertificates({
    client: await api.client(),
    secret: { namespace: 'gpugate', name: 'certificates' },
    configurations: 'gpugate',
    names: ['gpugate.gpugate.svc'],
    terms: termsFor(60_000),
    log: pino({ level: 'silent' }),
    metrics: certificateMetrics(registry),
    onPair: () => undefined,
  });
  const inStep = async () => (await registry.getSingleMetricAsString('gpugate_ca_bundle_in_step')).match(/ 1$/gm);
  while ((await inStep())?.length !== 2) await sleep(20);
  await kept.close();
  await api.stop();
  return registry.metrics();
}

const baseOf = (metric: string) => metric.replace(/_(bucket|sum|count)$/, '');
const isOurs = (metric: string) => metric.startsWith('gpugate_');

describe.each(queries())('$place', ({ expr }) => {
  const { selectors, grouped } = readQuery(expr);

  it('asks for metrics that are exported', () => {
    expect(selectors).not.toEqual([]);
    for (const { metric } of selectors) {
      if (OF_PROMETHEUS.includes(metric)) continue;
      if (isOurs(metric)) expect([...exported.keys()]).toContain(metric);
      else expect([...described.keys()]).toContain(described.has(metric) ? metric : baseOf(metric));
    }
  });

  it('asks for labels and values that these have', () => {
    const known = selectors.flatMap(({ metric }) => labelsOf(metric));
    for (const label of grouped) expect([...known, ...TARGET]).toContain(label);
    for (const { metric, matchers } of selectors) {
      for (const { label, operator, value } of matchers) {
        expect([...labelsOf(metric), ...TARGET]).toContain(label);
        if (operator !== '=' || TARGET.includes(label)) continue;
        const { help, values } = valuesOf(metric, label);
        expect(values.has(value) || new RegExp(`\\b${value}\\b`).test(help), `${metric}{${label}="${value}"}`).toBe(
          true,
        );
      }
    }
  });
});

function labelsOf(metric: string): readonly string[] {
  return (described.get(metric) ?? described.get(baseOf(metric)))?.labelNames ?? [];
}

/** Values that occurred, and the help that names those that did not. */
function valuesOf(metric: string, label: string): { readonly help: string; readonly values: ReadonlySet<string> } {
  const { help = '' } = described.get(metric) ?? described.get(baseOf(metric)) ?? {};
  return { help, values: exported.get(metric)?.labels.get(label) ?? new Set() };
}

describe('the alerts', () => {
  const page = readFileSync(new URL('docs/operations.md', ROOT), 'utf8');

  it.each(alerts())('$alert has a severity, texts and a runbook that is there', ({ alert, labels, annotations }) => {
    expect(['critical', 'warning', 'info']).toContain(labels.severity);
    expect(Object.keys(annotations).sort()).toEqual(['description', 'runbook_url', 'summary']);
    expect(annotations.runbook_url).toBe(`docs/operations.md#${alert.toLowerCase()}`);
    expect(anchorsOf(page)).toContain(alert.toLowerCase());
  });

  it('have a name of their own each, and no runbook stands for nothing', () => {
    const names = alerts().map(({ alert }) => alert);
    expect(new Set(names).size).toBe(names.length);
    expect([...page.matchAll(/^#+ (Gpugate\w+)$/gm)].map(([, name]) => name).sort()).toEqual([...names].sort());
  });
});

describe('the dashboard', () => {
  const { panels, templating } = dashboard();

  it('has no two panels in one place, nor with one id', () => {
    const cells = panels.flatMap(({ gridPos: { x, y, w, h } }) =>
      Array.from({ length: w * h }, (_, at) => `${x + (at % w)},${y + Math.floor(at / w)}`),
    );
    expect(new Set(cells).size).toBe(cells.length);
    expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length);
    for (const { gridPos } of panels) expect(gridPos.x + gridPos.w).toBeLessThanOrEqual(24);
  });

  it('names labels in its legends that the queries leave', () => {
    for (const { title, targets = [] } of panels) {
      for (const { expr, legendFormat } of targets) {
        const { selectors, grouped } = readQuery(expr.replaceAll('$__rate_interval', '5m'));
        const left = grouped.length > 0 ? grouped : [...TARGET, ...selectors.flatMap(({ metric }) => labelsOf(metric))];
        for (const [, label] of legendFormat.matchAll(/\{\{(\w+)\}\}/g)) expect(left, title).toContain(label);
      }
    }
  });

  it('takes its variables from metrics that are exported', () => {
    for (const { definition } of templating.list) {
      const [, metric = ''] = /^label_values\((\w+), \w+\)$/.exec(definition ?? '') ?? [];
      if (definition !== undefined) expect([...exported.keys()]).toContain(metric);
    }
  });
});

it('docs/metrics.md has every metric that a running gpugate exports', () => {
  const page = readFileSync(new URL('docs/metrics.md', ROOT), 'utf8');
  const rows = new Set([...page.matchAll(/^\| `(\w+)` \|/gm)].map(([, name]) => name));
  for (const [name, { type }] of exported) expect(rows).toContain(type === 'histogram' ? baseOf(name) : name);
});
