import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { CHART, type Helm, helmFor, mustHelm } from '../cluster/helm.ts';
import { one, render as renderedBy } from './rendered.ts';

// No cluster: what values do to what is rendered, and which are refused.
let dir: string;
let helm: Helm;
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'gpugate-helm-'));
  helm = await helmFor(dir, undefined, console.log);
});
afterAll(() => rm(dir, { recursive: true }));

const set = (...settings: readonly string[]) => settings.flatMap((setting) => ['--set', setting]);
const render = (...args: readonly string[]) => renderedBy(helm, ...args);

describe('how many replicas there are', () => {
  test('is left to others where replicas is null, and a node is drained one replica at a time', async () => {
    const manifests = await render(...set('replicas=null'));
    const { spec } = one(manifests, 'Deployment');
    expect(spec).not.toHaveProperty('replicas');
    expect(spec.template).toEqual(one(await render(), 'Deployment').spec.template);
    expect(one(manifests, 'PodDisruptionBudget').spec).toMatchObject({ maxUnavailable: 1 });
  });

  test.each([
    ['1', ['NOTE: there is one replica.']],
    ['2', []],
    ['null', ['NOTE: replicas is null, so the chart leaves their number alone.']],
  ])('what is told after an install with %s', async (replicas, expected) => {
    const args = ['install', 'gpugate', CHART, '--dry-run=client', ...set(`replicas=${replicas}`)];
    const [, notes = ''] = (await mustHelm(helm, args)).split('NOTES:');
    expect(notes.match(/NOTE: [^.]*replica[^.]*\./g) ?? []).toEqual(expected);
  });
});

describe('where the NetworkPolicy lets replicas go', () => {
  const egressOf = async (...args: readonly string[]) => one(await render(...args), 'NetworkPolicy').spec.egress;
  const apiServer = [443, 6443].map((port) => ({ port, protocol: 'TCP' }));
  const dns = (ports: readonly number[]) => {
    return { ports: ports.flatMap((port) => ['UDP', 'TCP'].map((protocol) => ({ port, protocol }))) };
  };

  test('to the API server, and to DNS, since KUBERNETES_SERVICE_HOST may be a name', async () => {
    expect(await egressOf()).toEqual([{ ports: apiServer }, dns([53, 5353, 8053])]);
  });

  test('DNS keeps its way where the addresses of the API server are known', async () => {
    const to = [{ ipBlock: { cidr: '10.0.0.1/32' } }];
    const egress = await egressOf(...set('networkPolicy.apiServerCIDRs={10.0.0.1/32}', 'networkPolicy.dnsPorts={53}'));
    expect(egress).toEqual([{ ports: apiServer, to }, dns([53])]);
  });

  test('and further, as values say', async () => {
    const further = { to: [{ ipBlock: { cidr: '192.0.2.0/24' } }], ports: [{ port: 3128 }] };
    const json = `networkPolicy.extraEgress=${JSON.stringify([further])}`;
    const egress = await egressOf('--set-json', json, '--set-json', 'networkPolicy.dnsPorts=[]');
    expect(egress).toEqual([{ ports: apiServer }, further]);
  });
});

describe('how replicas are replaced', () => {
  const strategyOf = async (...settings: readonly string[]) =>
    one(await render(...set(...settings)), 'Deployment').spec.strategy;

  test('a new one is ready before an old one goes', async () => {
    const rollingUpdate = { maxSurge: 1, maxUnavailable: 0 };
    expect(await strategyOf()).toEqual({ type: 'RollingUpdate', rollingUpdate });
  });

  test("on the node's network an old one goes first, since its ports are taken on its node", async () => {
    const rollingUpdate = { maxSurge: 0, maxUnavailable: 1 };
    expect(await strategyOf('hostNetwork=true')).toEqual({ type: 'RollingUpdate', rollingUpdate });
  });

  test('updateStrategy is taken as it is', async () => {
    expect(await strategyOf('updateStrategy.type=Recreate')).toEqual({ type: 'Recreate' });
  });
});
