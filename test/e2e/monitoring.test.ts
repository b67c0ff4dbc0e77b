import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { OF_THE_API_SERVER } from '../../scripts/metrics.ts';
import { issue } from '../../src/certificates/issue.ts';
import { webhookConfigurations } from '../../src/registration/configurations.ts';
import { type Exported, readExposition } from '../monitoring/exposition.ts';
import { queries } from '../monitoring/files.ts';
import { readQuery } from '../monitoring/promql.ts';
import { container, deployment, type Governed, pod, startGoverned } from './governed.ts';

/** A webhook of our name whose condition can't be evaluated, and that nobody answers. */
const BROKEN = {
  apiVersion: 'admissionregistration.k8s.io/v1',
  kind: 'ValidatingWebhookConfiguration',
  metadata: { name: 'broken' },
  webhooks: [
    {
      name: 'broken.validate.gpugate.dev',
      clientConfig: { url: 'https://127.0.0.1:1/validate' },
      rules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['pods'] }],
      matchConditions: [{ name: 'broken', expression: "object.spec.missing == 'x'" }],
      failurePolicy: 'Ignore',
      sideEffects: 'None',
      admissionReviewVersions: ['v1'],
    },
  ],
};

describe('what a real API server tells of gpugate', () => {
  let cluster: Governed;
  beforeAll(async () => {
    cluster = await startGoverned();
  });
  afterAll(() => cluster?.stop());

  const events = async (namespace: string) =>
    JSON.parse(await cluster.must(`get events -n ${namespace} --field-selector reason=FailedCreate -o json`)).items.map(
      ({ message }: { message: string }) => message,
    );
  const exported = async (): Promise<ReadonlyMap<string, Exported>> =>
    readExposition((await cluster.api('GET', '/metrics')).body);

  test('after an outage a rollout that is restarted is tried at once', async () => {
    await cluster.gpugate.stop();
    await cluster.must('apply -f -', deployment('infer', 'team-inference', 1, [container('infer')]));
    await expect.poll(() => events('team-inference'), { timeout: 60_000 }).not.toEqual([]);
    expect((await events('team-inference'))[0]).toContain('failed calling webhook "gpu-pods.validate.gpugate.dev"');
    await cluster.run('apply -f -', pod('open', 'team-free', [container('c')]));
    const env = [{ name: 'NVIDIA_VISIBLE_DEVICES', value: 'all' }];
    await cluster.must('apply -f -', deployment('all', 'team-training', 1, [container('all', {}, { env })]));

    await cluster.gpugate.start();
    await cluster.must('rollout restart deployment infer -n team-inference');
    const pods = async () => (await cluster.must('get pods -n team-inference -o name')).trim();
    await expect.poll(pods, { timeout: 60_000 }).toMatch(/^pod\/infer-/);
  });

  test('a ReplicaSet whose pods are refused has an event that says why', async () => {
    const refused = async () => (await events('team-training')).find((message: string) => message.includes('GPU151'));
    await expect.poll(refused, { timeout: 60_000 }).toContain('spec.containers[0] "all": NVIDIA_VISIBLE_DEVICES');
  });

  test('has every metric and label that alerts and dashboard ask for', async () => {
    await cluster.must('apply -f -', BROKEN);
    const evaluated = async () => {
      await cluster.run('apply --dry-run=server -f -', pod('plain', 'team-free', [container('c', {})]));
      return (await exported()).get('apiserver_admission_match_condition_evaluation_errors_total')?.labels.get('name');
    };
    await expect.poll(evaluated, { timeout: 60_000 }).toEqual(new Set(['broken.validate.gpugate.dev']));

    const found = await exported();
    for (const { name, type, labelNames } of OF_THE_API_SERVER) {
      const metric = found.get(type === 'histogram' ? `${name}_bucket` : name);
      expect({ name, type: metric?.type }).toEqual({ name, type });
      expect([...(metric?.labels.keys() ?? [])], name).toEqual(expect.arrayContaining([...labelNames]));
    }
    const asked = queries().flatMap(({ expr }) => readQuery(expr).selectors);
    for (const { metric, matchers } of asked.filter((selector) => selector.metric.startsWith('apiserver_'))) {
      for (const { label, operator, value } of matchers) {
        const values = [...(found.get(metric)?.labels.get(label) ?? [])];
        const fits = (text: string) => (operator === '=~' ? new RegExp(`^(?:${value})$`).test(text) : text === value);
        expect(values.some(fits), `${metric}{${label}${operator}"${value}"}`).toBe(true);
      }
    }
  });

  test('a caBundle that is not the CA of the certificate is counted as a client that does not trust it', async () => {
    const { ca: caBundle } = await issue(new Date());
    const target = { url: cluster.gpugate.url };
    const [, validating] = webhookConfigurations({ target, caBundle });
    await cluster.must('apply --server-side --force-conflicts -f -', validating);
    const create = async () =>
      (await cluster.run('apply --dry-run=server -f -', pod('gpu', 'team-notebooks', [container('c')]))).stderr;
    await expect.poll(create, { timeout: 60_000 }).toContain('x509: certificate signed by unknown authority');
    const metrics = await (await fetch(`${cluster.gpugate.metricsUrl}/metrics`)).text();
    expect(metrics).toMatch(/^gpugate_tls_failures_total\{reason="not_trusted"\} [1-9]/m);
  });

  test('the one command of the operations guide lets pods by while gpugate is away', async () => {
    const page = readFileSync(new URL('../../docs/operations.md', import.meta.url), 'utf8');
    const [, command = ''] = /the one command\n\n```\nkubectl (.+)\n```/.exec(page) ?? [];
    await cluster.gpugate.stop();
    const create = () => cluster.run('apply --dry-run=server -f -', pod('gpu', 'team-notebooks', [container('c')]));
    await expect.poll(create, { timeout: 60_000 }).toMatchObject({ code: 1 });
    await cluster.must(command);
    await expect.poll(create, { timeout: 60_000 }).toMatchObject({ code: 0 });
  });
});
