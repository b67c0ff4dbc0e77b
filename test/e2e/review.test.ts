import { existsSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { review } from '../../src/commands/review/review.ts';
import type { Report, ReportedObject } from '../../src/report/result.ts';
import { readExpected } from '../../src/scenarios/expected.ts';
import { scenarioFolders } from '../../src/scenarios/run.ts';
import { type Api, type ApiAnswer, apiOf } from '../cluster/api.ts';
import { whenReady } from '../cluster/component.ts';
import { type ControlPlane, startControlPlane } from '../cluster/controlplane.ts';
import { addCrd, type Gpugate, register, startGpugate } from '../cluster/gpugate.ts';

const COLLECTIONS: Readonly<Record<string, string>> = {
  'v1/Pod': '/api/v1/namespaces/NS/pods',
  'apps/v1/Deployment': '/apis/apps/v1/namespaces/NS/deployments',
  'apps/v1/ReplicaSet': '/apis/apps/v1/namespaces/NS/replicasets',
  'batch/v1/Job': '/apis/batch/v1/namespaces/NS/jobs',
};
/** An update is no manifest, and quotas and classes would hold for all scenarios at once. */
const LEFT_OUT = ['old.yaml', 'limits.yaml', 'deviceclasses.yaml', 'runtimeclasses.yaml'];

interface Applied {
  readonly name: string;
  readonly namespace: string;
  readonly object: { readonly apiVersion: string; readonly kind: string; readonly metadata: object };
  /** The text of its nodes; empty without any. */
  readonly nodes: string;
}

/** The scenarios that an API server can be asked about, each in a namespace and with policies of its own. */
async function applicable(): Promise<{ readonly applied: readonly Applied[]; readonly around: readonly object[] }> {
  const applied: Applied[] = [];
  const around: object[] = [];
  const folders = await scenarioFolders([fileURLToPath(new URL('../scenarios', import.meta.url))]);
  for (const [index, folder] of folders.entries()) {
    const read = async (file: string) => (existsSync(join(folder, file)) ? readFile(join(folder, file), 'utf8') : '');
    const input = parse(await read('input.yaml'), { merge: true });
    const { subResource } = await readExpected(join(folder, 'expected.yaml'));
    if (subResource !== undefined || LEFT_OUT.some((file) => existsSync(join(folder, file)))) continue;
    if (!(`${input.apiVersion}/${input.kind}` in COLLECTIONS)) continue;
    const namespace = `s${index}`;
    const labels = { ...parse((await read('namespace.yaml')) || '{}').metadata?.labels };
    const policies = parseAllDocuments(await read('policy.yaml')).map((document) => document.toJS());
    if (policies.some(({ metadata }) => metadata.name === 'default')) continue;
    if ('gpugate.dev/policy' in labels) labels['gpugate.dev/policy'] = `${labels['gpugate.dev/policy']}-${index}`;
    around.push({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace, labels } });
    for (const policy of policies) around.push({ ...policy, metadata: { name: `${policy.metadata.name}-${index}` } });
    const object = { ...input, metadata: { ...input.metadata, namespace } };
    applied.push({ name: basename(folder), namespace, object, nodes: await read('nodes.yaml') });
  }
  return { applied, around };
}

describe('review and the API server say the same', () => {
  let plane: ControlPlane;
  let gpugate: Gpugate;
  let api: Api;
  let applied: readonly Applied[];
  beforeAll(async () => {
    plane = await startControlPlane({ log: console.log });
    api = apiOf(plane);
    await addCrd(plane);
    gpugate = await startGpugate(plane);
    await register(plane, gpugate);
    const scenarios = await applicable();
    applied = scenarios.applied;
    for (const object of scenarios.around as readonly { kind: string }[]) {
      const path = object.kind === 'Namespace' ? '/api/v1/namespaces' : '/apis/gpugate.dev/v1alpha1/gpupolicies';
      const { code, body } = await api('POST', path, object);
      expect(code, JSON.stringify(body)).toBe(201);
    }
    for (const { namespace } of applied) {
      const account = () => api('GET', `/api/v1/namespaces/${namespace}/serviceaccounts/default`);
      await whenReady([], async () => (await account()).code === 200, 60_000);
    }
    await seen('gpupolicies', scenarios.around.length - applied.length);
  });
  afterAll(async () => {
    await gpugate?.stop();
    await plane?.stop();
  });

  test('where no node is', { timeout: 300_000 }, async () => {
    const group = applied.filter(({ nodes }) => nodes === '');
    expect(group.length).toBeGreaterThan(80);
    expect(await differences(group)).toEqual([]);
  });

  test('with the nodes of each scenario', { timeout: 900_000 }, async () => {
    const groups = Map.groupBy(
      applied.filter(({ nodes }) => nodes !== ''),
      ({ nodes }) => nodes,
    );
    expect(groups.size).toBeGreaterThan(30);
    const found: string[] = [];
    for (const [text, group] of groups) {
      const nodes = parseAllDocuments(text).map((document) => document.toJS());
      for (const node of nodes) expect((await api('POST', '/api/v1/nodes', node)).code).toBe(201);
      await seen('nodes', nodes.length);
      found.push(...(await differences(group)));
      expect((await api('DELETE', '/api/v1/nodes')).code).toBe(200);
      await seen('nodes', 0);
    }
    expect(found).toEqual([]);
  });

  /** Until the webhook has so many of a resource in memory. */
  async function seen(resource: string, count: number): Promise<void> {
    const line = `gpugate_watch_objects{resource="${resource}"} ${count}\n`;
    const metrics = async () => (await fetch(`${gpugate.metricsUrl}/metrics`)).text();
    await whenReady([], async () => (await metrics()).includes(line), 60_000);
  }

  /** One line for each scenario of which the two do not say the same. */
  async function differences(group: readonly Applied[]): Promise<readonly string[]> {
    const reviewed = await reviewedByCluster(group);
    const lines: string[] = [];
    let compared = 0;
    for (const { name, namespace, object } of group) {
      const path = COLLECTIONS[`${object.apiVersion}/${object.kind}`]?.replace('NS', namespace) ?? '';
      const answer = await api('POST', `${path}?dryRun=All&fieldValidation=Ignore`, object);
      const one = saidByServer(answer);
      const other = saidByReview(reviewed.get(namespace));
      if (one === undefined) {
        console.log(`${name}: the API server itself refuses it: ${answer.body.message}`);
        continue;
      }
      compared += 1;
      if (JSON.stringify(one) !== JSON.stringify(other)) {
        lines.push(`${name}: the API server ${JSON.stringify(one)}, review ${JSON.stringify(other)}`);
      }
    }
    expect(compared / group.length, 'most can be compared').toBeGreaterThan(0.8);
    return lines;
  }

  async function reviewedByCluster(group: readonly Applied[]): Promise<ReadonlyMap<string, ReportedObject>> {
    const folder = join(plane.dir, 'manifests');
    await mkdir(folder, { recursive: true });
    const files = group.map(({ namespace }) => join(folder, `${namespace}.json`));
    for (const [index, file] of files.entries()) await writeFile(file, JSON.stringify(group[index]?.object));
    const report = join(plane.dir, 'report.json');
    const flags = {
      cluster: true,
      namespaceLabel: {},
      requestTimeout: 60_000,
      gpuResources: [],
      color: 'never',
    } as const;
    await review(files, {
      ...flags,
      cluster: true,
      kubeconfig: plane.kubeconfig,
      output: [{ format: 'json', file: report }],
    });
    const { objects } = JSON.parse(await readFile(report, 'utf8')) as Report;
    return new Map(objects.map((object) => [object.namespace ?? '', object]));
  }
});

/** Whether it is let by, and the codes of what is said. Undefined where the API server's own validation refuses it. */
function saidByServer({ code, body, warnings }: ApiAnswer): object | undefined {
  if (code === 201) return { allowed: true, codes: codesIn(warnings) };
  const message = String(body.message);
  return message.includes('denied the request: gpugate') ? { allowed: false, codes: codesIn([message]) } : undefined;
}

function saidByReview(object: ReportedObject | undefined): object | undefined {
  if (!object) return undefined;
  const denied = object.outcome === 'denied';
  return { allowed: !denied, codes: codesIn(denied ? [object.message ?? ''] : object.warnings) };
}

/** Values are spelled as they were typed in a file, and as they were decoded at the API server: codes and places are compared. */
function codesIn(texts: readonly string[]): readonly string[] {
  return texts.flatMap((text) => [...text.matchAll(/GPU\d{3}(?: spec\.\S+)?/g)].map(([found]) => found));
}
