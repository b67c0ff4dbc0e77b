import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import jsonpatch from 'fast-json-patch';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { parse } from 'yaml';
import { review } from '../../src/commands/review/review.ts';
import { withDefaultRequests } from '../../src/manifests/defaults.ts';
import type { Report, ReportedObject } from '../../src/report/result.ts';
import { readExpected } from '../../src/scenarios/expected.ts';
import { GIVEN_FILES, type OpenScenario, openScenario } from '../../src/scenarios/open.ts';
import { scenarioFolders } from '../../src/scenarios/run.ts';
import type { Judge } from '../../src/server/judge.ts';
import { type Server, startServer } from './server.ts';

const SCENARIOS = await scenarioFolders([fileURLToPath(new URL('../scenarios', import.meta.url))]);

let server: Server;
let scenario: OpenScenario;
let dir: string;
beforeAll(async () => {
  // One server for all: what it knows of the cluster is that of the scenario under review.
  const judge: Judge = (webhook, request) => scenario.ask(webhook, request.object);
  server = await startServer({ judge });
  dir = await mkdtemp(join(tmpdir(), 'gpugate-same-'));
});
afterAll(async () => {
  await server.stop();
  await rm(dir, { recursive: true, force: true });
});

interface Answer {
  readonly allowed: boolean;
  readonly status?: { readonly message: string };
  readonly patch?: string;
  readonly warnings?: readonly string[];
}

/** What the API server does with an object: both webhooks, the second with the patch of the first. */
async function atTheWebhook(object: object, request: object): Promise<{ answer: Answer; warnings: readonly string[] }> {
  const ask = async (path: string, reviewed: unknown): Promise<Answer> => {
    const body = {
      apiVersion: 'admission.k8s.io/v1',
      kind: 'AdmissionReview',
      request: { ...request, object: reviewed },
    };
    return JSON.parse((await server.review(path, body)).text).response;
  };
  const mutated = await ask('/mutate', object);
  if (!mutated.allowed) return { answer: mutated, warnings: mutated.warnings ?? [] };
  const patch = JSON.parse(Buffer.from(mutated.patch ?? 'W10=', 'base64').toString());
  const after = jsonpatch.applyPatch(structuredClone(object), patch).newDocument;
  const validated = await ask('/validate', after);
  return {
    answer: { ...validated, ...(mutated.patch === undefined ? {} : { patch: mutated.patch }) },
    warnings: [...new Set([...(mutated.warnings ?? []), ...(validated.warnings ?? [])])],
  };
}

/** What `gpugate review` says of the scenario's input, given the scenario's files. */
async function byReview(input: string, folder: string, namespace: string): Promise<ReportedObject | undefined> {
  const given = GIVEN_FILES.filter((file) => file !== 'old.yaml').map((file) => join(folder, file));
  const output = [{ format: 'json' as const, file: join(dir, 'report.json') }];
  const flags = { namespace, namespaceLabel: {}, requestTimeout: 1000, gpuResources: [], color: 'never' } as const;
  await review([input, ...given.filter((file) => existsSync(file))], { ...flags, output });
  const { objects, unreadable } = JSON.parse(await readFile(join(dir, 'report.json'), 'utf8')) as Report;
  expect(unreadable).toEqual([]);
  return objects.find(({ place }) => place?.file === input);
}

it.each(SCENARIOS.map((folder) => [basename(folder), folder]))('%s', async (name, folder) => {
  const { subResource } = await readExpected(join(folder, 'expected.yaml'));
  scenario = await openScenario(folder, subResource);
  const object = scenario.input as {
    apiVersion?: string;
    kind?: string;
    metadata?: { name?: string; namespace?: string };
  };
  const { apiVersion = 'v1', kind = 'Pod', metadata } = object;
  const namespaceFile = join(folder, 'namespace.yaml');
  const labelled = existsSync(namespaceFile) ? parse(await readFile(namespaceFile, 'utf8')).metadata.name : 'team-a';
  const namespace = metadata?.namespace ?? labelled;
  const [group = '', version = ''] = apiVersion.includes('/') ? apiVersion.split('/') : ['', apiVersion];
  const oldFile = join(folder, 'old.yaml');
  const updated = existsSync(oldFile);
  const request = {
    uid: name,
    kind: { group, version, kind },
    name: metadata?.name ?? '',
    namespace,
    operation: updated ? 'UPDATE' : 'CREATE',
    ...(subResource === undefined ? {} : { subResource }),
    oldObject: updated ? parse(await readFile(oldFile, 'utf8')) : null,
  };

  // An update is no manifest: what is reviewed is the recorded AdmissionReview.
  const recorded = join(dir, `${name}.json`);
  if (updated) {
    const body = { apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview', request: { ...request, object } };
    await writeFile(recorded, JSON.stringify(body));
  }
  const reviewed = await byReview(updated ? recorded : join(folder, 'input.yaml'), folder, namespace);
  const isPod = kind === 'Pod' && group === '' && !updated;
  const sent = isPod ? (withDefaultRequests(object, [[]]) as object) : object;
  const { answer, warnings } = await atTheWebhook(sent, request);

  if (reviewed === undefined) {
    expect({ answer, warnings }, 'what is not reviewed, the webhook lets by without a word').toMatchObject({
      answer: { allowed: true },
      warnings: [],
    });
    return;
  }
  expect(reviewed.outcome !== 'denied').toBe(answer.allowed);
  expect(reviewed.message).toBe(answer.status?.message);
  expect(reviewed.warnings).toEqual(warnings);
  if (updated && answer.allowed) {
    expect(reviewed.outcome === 'changed' ? reviewed.patch : []).toEqual(
      JSON.parse(Buffer.from(answer.patch ?? 'W10=', 'base64').toString()),
    );
  } else if (answer.allowed) expect(reviewed.outcome === 'changed').toBe(answer.patch !== undefined);
});
