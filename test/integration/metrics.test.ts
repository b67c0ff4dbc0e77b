import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Judge } from '../../src/server/judge.ts';
import type { Server } from './server.ts';
import { allowAll, startServer } from './server.ts';

const SECRET = 'an-env-value-that-must-not-leave';

const judge: Judge = async (webhook, request) => {
  const allowed = await allowAll(webhook, request);
  if (request.name === 'broken') throw new Error('a fault of ours');
  if (request.name === 'refused') {
    const answer = { ...allowed.answer, allowed: false, code: 403, message: SECRET };
    const said = { field: 'spec', value: SECRET, message: SECRET, fix: SECRET };
    const findings = [{ code: 'GPU002' as const, severity: 'error' as const, ...said }];
    return { ...allowed, answer, mode: 'enforce', policy: 'notebooks', findings };
  }
  if (request.name === 'unread') return { ...allowed, unread: true };
  if (request.name === 'changed') {
    const patch = [{ op: 'add' as const, path: '/x', value: SECRET }];
    const said = { type: 'set-annotation' as const, name: 'x', value: SECRET, reason: SECRET, required: false };
    const changes = [{ code: 'GPU110' as const, ...said }];
    return { ...allowed, answer: { ...allowed.answer, patch }, mode: 'warn', changes };
  }
  return allowed;
};

let server: Server;
beforeAll(async () => {
  server = await startServer({ judge, checks: [{ name: 'cluster', problem: cluster }] });
  const send = (path: string, request: object) =>
    server.review(path, {
      kind: 'AdmissionReview',
      apiVersion: 'admission.k8s.io/v1',
      request: {
        uid: 'u-1',
        kind: { group: '', version: 'v1', kind: 'Pod' },
        operation: 'CREATE',
        namespace: 'team-a',
        object: {
          metadata: { generateName: 'train-' },
          spec: { containers: [{ env: [{ name: 'TOKEN', value: SECRET }] }] },
        },
        oldObject: null,
        ...request,
      },
    });
  await send('/mutate', { name: 'refused', dryRun: true });
  await send('/mutate', { name: 'changed' });
  await send('/validate', { name: '' });
  await send('/validate', { name: 'broken' });
  await send('/validate', { name: 'unread' });
  await send('/validate', { operation: `MADE-UP-${Math.random()}` });
  await server.send({ path: '/validate', headers: { 'content-type': 'application/json' }, body: SECRET });
});
afterAll(() => server.stop());

let clusterProblem: string | Error | undefined;
const cluster = () => {
  if (clusterProblem instanceof Error) throw clusterProblem;
  return clusterProblem;
};

const get = async (path: string) => {
  const reply = await fetch(`http://127.0.0.1:${server.metricsPort}${path}`);
  return { status: reply.status, type: reply.headers.get('content-type'), text: await reply.text() };
};

describe('GET /metrics', () => {
  it('counts what was answered, with labels of closed sets only', async () => {
    const { status, type, text } = await get('/metrics');
    expect({ status, type }).toEqual({ status: 200, type: 'text/plain; version=0.0.4; charset=utf-8' });
    const counted = text
      .split('\n')
      .filter((line) => /^gpugate_\w+_total(\{| \d)/.test(line) && !/_(process|nodejs)_/.test(line));
    expect(counted.sort()).toEqual([
      'gpugate_certificate_reloads_total{result="failure"} 0',
      'gpugate_certificate_reloads_total{result="success"} 0',
      'gpugate_changes_total{code="GPU110",mode="warn"} 1',
      'gpugate_client_ca_reloads_total{result="failure"} 0',
      'gpugate_client_ca_reloads_total{result="success"} 0',
      'gpugate_findings_total{code="GPU002",mode="enforce"} 1',
      'gpugate_malformed_requests_total{reason="not_json"} 1',
      'gpugate_panics_total 1',
      'gpugate_policy_reloads_total{result="failure"} 0',
      'gpugate_policy_reloads_total{result="success"} 0',
      'gpugate_refused_clients_total 0',
      'gpugate_requests_total{webhook="mutate",operation="CREATE",outcome="changed"} 1',
      'gpugate_requests_total{webhook="mutate",operation="CREATE",outcome="denied"} 1',
      'gpugate_requests_total{webhook="validate",operation="CREATE",outcome="allowed"} 2',
      'gpugate_requests_total{webhook="validate",operation="CREATE",outcome="panic"} 1',
      'gpugate_requests_total{webhook="validate",operation="other",outcome="allowed"} 1',
      'gpugate_requests_total{webhook="validate",operation="other",outcome="malformed"} 1',
      'gpugate_tls_failures_total{reason="closed"} 0',
      'gpugate_tls_failures_total{reason="not_trusted"} 0',
      'gpugate_tls_failures_total{reason="other"} 0',
      'gpugate_tls_failures_total{reason="protocol"} 0',
      'gpugate_tls_failures_total{reason="timeout"} 0',
      'gpugate_unread_policies_total{webhook="mutate"} 0',
      'gpugate_unread_policies_total{webhook="validate"} 1',
      'gpugate_watch_failures_total{resource="namespaces"} 1',
      'gpugate_watch_faults_total{resource="namespaces"} 0',
      'gpugate_watch_lists_total{resource="namespaces"} 2',
    ]);
    expect(text).not.toMatch(/team-a|train-|u-1|MADE-UP/);
  });

  it('tells of the process, the certificate and the watches', async () => {
    const { text } = await get('/metrics');
    expect(text).toContain('gpugate_build_info{version="0.0.0"} 1\n');
    expect(text).toContain('gpugate_requests_in_flight 0\n');
    expect(text).toContain('gpugate_request_duration_seconds_count{webhook="mutate",operation="CREATE"} 2\n');
    expect(text).toMatch(/^gpugate_request_duration_seconds_bucket\{le="0.0005",/m);
    expect(text).toMatch(/^gpugate_request_duration_seconds_bucket\{le="5",/m);
    expect(text).toContain('gpugate_watch_synced{resource="namespaces"} 1\n');
    expect(text).toContain('gpugate_watch_last_event_timestamp_seconds{resource="namespaces"} 1\n');
    expect(text).toContain('gpugate_watch_objects{resource="namespaces"} 3\n');
    expect(text).toMatch(/^gpugate_certificate_expiry_timestamp_seconds \d{10}$/m);
    expect(text).toMatch(/^gpugate_certificate_not_before_timestamp_seconds \d{10}$/m);
    expect(text).toMatch(/^gpugate_nodejs_eventloop_lag_p99_seconds [\d.e-]+$/m);
    expect(text).toMatch(/^gpugate_nodejs_heap_limit_bytes \d{8,}$/m);
    expect(text).toMatch(/^gpugate_nodejs_version_info\{/m);
  });
});

describe('the log', () => {
  it('has one line a request, with what was decided and nothing of what the object holds', () => {
    expect(server.lines).toHaveLength(7);
    expect(server.lines[0]).toEqual({
      level: 30,
      time: expect.any(Number),
      webhook: 'mutate',
      uid: 'u-1',
      operation: 'CREATE',
      kind: 'Pod',
      namespace: 'team-a',
      name: 'refused',
      dryRun: true,
      allowed: false,
      code: 403,
      mode: 'enforce',
      policy: 'notebooks',
      findings: ['GPU002'],
      changes: [],
      ms: expect.any(Number),
      msg: 'review',
    });
    expect(server.lines[1]).toMatchObject({ allowed: true, mode: 'warn', changes: ['GPU110'] });
    expect(server.lines[2]).toMatchObject({ name: 'train-', allowed: true, mode: 'none', policy: '' });
    expect(server.lines[3]).toMatchObject({
      level: 50,
      uid: 'u-1',
      err: { stack: expect.stringContaining('a fault of ours') },
    });
    expect(server.lines[6]).toMatchObject({ level: 40, reason: 'not_json', code: 400 });
    expect(JSON.stringify(server.lines)).not.toContain(SECRET);
  });
});

describe('health on the second port', () => {
  it('is that of the first', async () => {
    const ready = '[+] lifecycle\n[+] certificate\n[+] handshake\n[+] cluster\nready\n';
    expect(await get('/readyz')).toMatchObject({ status: 200, text: ready });
    expect(await get('/livez')).toMatchObject({ status: 200, text: 'ok\n' });
    clusterProblem = 'waiting for the first list of nodes';
    expect((await get('/metrics')).text).toContain('gpugate_ready 0\n');
    const waiting = {
      status: 503,
      text: ready.replace('[+] cluster\nready', `[-] cluster: ${clusterProblem}\nnot ready`),
    };
    expect(await get('/readyz')).toMatchObject(waiting);
    expect(await server.send({ method: 'GET', path: '/readyz' })).toMatchObject(waiting);
    clusterProblem = undefined;
    expect((await get('/metrics')).text).toContain('gpugate_ready 1\n');
  });

  it('a check that throws is one that is not met, and the scrape goes on', async () => {
    clusterProblem = new Error('a bug');
    expect((await get('/readyz')).text).toContain('[-] cluster: a bug\n');
    expect(await get('/metrics')).toMatchObject({ status: 200, text: expect.stringContaining('gpugate_ready 0\n') });
    clusterProblem = undefined;
  });

  it('turns unready on the way out and after a crash, and stays alive', async () => {
    server.lifecycle.draining = true;
    expect((await get('/readyz')).text).toContain('[-] lifecycle: shutting down\n');
    expect((await get('/metrics')).text).toContain('gpugate_ready 0\n');
    server.lifecycle.failure = 'crashed: unhandledRejection';
    expect((await get('/readyz')).text).toContain('[-] lifecycle: crashed: unhandledRejection\n');
    expect((await get('/livez')).status).toBe(200);
  });
});
