import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import jsonpatch from 'fast-json-patch';
import { parse, parseAllDocuments } from 'yaml';
import { z } from 'zod';
import { type AdmissionRequest, readReview } from '../../src/admission/review.ts';
import { type Extras, extendedResourceName, type Limits, limitRangeOf, quotaOf } from '../../src/cluster/extras.ts';
import { openFiles } from '../../src/cluster/files.ts';
import type { KubernetesObject } from '../../src/cluster/store.ts';
import { readPolicies } from '../../src/policy/files.ts';
import type { GpuPolicy } from '../../src/policy/schema.ts';
import { isBroken } from '../../src/policy/stored.ts';
import { createJudge, type Judgement } from '../../src/server/judge.ts';

/**
 * A scenario is a folder that a user could have written: `policy.yaml`, `namespace.yaml`, `nodes.yaml`, `limits.yaml`
 * (ResourceQuotas and LimitRanges), `deviceclasses.yaml`, `runtimeclasses.yaml` (each may be missing, and then is not
 * known), `input.yaml` (any reviewed object), `old.yaml` (for an UPDATE) and `expected.yaml`.
 */
export const expectedSchema = z.strictObject({
  description: z.string(),
  /** For ephemeral containers: `ephemeralcontainers`. */
  subResource: z.string().optional(),
  /** Which webhook is asked first. A template's arithmetic is refused by `mutate`; its preview is what `validate` gives. */
  webhook: z.enum(['mutate', 'validate']).default('mutate'),
  allowed: z.boolean(),
  /** All findings, in order. */
  findings: z
    .array(
      z.strictObject({
        code: z.string(),
        severity: z.string(),
        field: z.string().optional(),
        value: z.string().optional(),
        container: z.string().optional(),
      }),
    )
    .default([]),
  /** Codes of the changes, made or announced, without repetition. */
  changes: z.array(z.string()).default([]),
  /** The whole text of the denial. */
  message: z.string().optional(),
  warnings: z.array(z.string()).optional(),
  /** The object after the patch. Fields that are not named may be anything, a field that is null must be absent, and a list is whole. */
  patched: z.record(z.string(), z.unknown()).optional(),
  /** True if the object comes out as it went in: announced changes are not made. */
  untouched: z.boolean().default(false),
  /** The validating webhook's verdict on the patched object; true unless said otherwise. */
  validated: z.boolean().default(true),
});

export type Expected = z.output<typeof expectedSchema>;

export interface Scenario {
  readonly name: string;
  readonly expected: Expected;
  readonly input: Readonly<Record<string, unknown>>;
  /** Asks the webhook about an object in the place of the input. */
  readonly ask: (webhook: 'mutate' | 'validate', object: unknown) => Promise<Judgement>;
}

const ROOT = new URL('../scenarios/', import.meta.url).pathname;

export function scenarioNames(): readonly string[] {
  return readdirSync(ROOT, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map((entry) => entry.name)
    .sort();
}

export async function loadScenario(name: string): Promise<Scenario> {
  const folder = join(ROOT, name);
  const expected = expectedSchema.parse(parse(readFileSync(join(folder, 'expected.yaml'), 'utf8')));
  return { name, expected, ...(await openScenario(folder, expected.subResource)) };
}

/** The policies of a scenario, as an admin wrote them. */
export async function policiesOf(name: string): Promise<readonly GpuPolicy[]> {
  const file = join(ROOT, name, 'policy.yaml');
  const policies = existsSync(file) ? [...(await readPolicies(file)).values()] : [];
  return policies.flatMap((policy) => (isBroken(policy) ? [] : [policy]));
}

/** What a scenario's folder gives, without its expectation: the object under review, and whom to ask about it. */
export async function openScenario(folder: string, subResource?: string): Promise<Pick<Scenario, 'input' | 'ask'>> {
  const file = (base: string) => join(folder, base);
  const given = (base: string) => existsSync(file(base));
  const read = (base: string) => (given(base) ? parse(readFileSync(file(base), 'utf8')) : undefined);
  const objects = (base: string) => (given(base) ? objectsOf(readFileSync(file(base), 'utf8')) : undefined);
  const input = read('input.yaml');
  const old = read('old.yaml');
  const policies = given('policy.yaml') ? await readPolicies(file('policy.yaml')) : new Map();
  const cluster = await openFiles({
    ...(given('namespace.yaml') ? { namespaces: file('namespace.yaml') } : {}),
    ...(given('nodes.yaml') ? { nodes: file('nodes.yaml') } : {}),
  });
  const namespace = read('namespace.yaml')?.metadata.name ?? 'team-a';
  const extras = extrasOf(objects, namespace);
  const judge = createJudge({ cluster: { ...cluster, extras }, policies: { current: () => policies } });
  return { input, ask: (webhook, object) => judge(webhook, requestFor(object, namespace, subResource, old)) };
}

interface Manifest extends KubernetesObject {
  readonly kind?: string;
}

function objectsOf(text: string): readonly Manifest[] {
  return parseAllDocuments(text).map((document) => document.toJS());
}

/** What a cluster would tell, read from the objects as the watches read them. An object without a namespace is in the scenario's. */
function extrasOf(objects: (base: string) => readonly Manifest[] | undefined, namespace: string): Extras {
  const limits = objects('limits.yaml')?.map((object): Limits => {
    const reduced = object.kind === 'LimitRange' ? limitRangeOf(object) : quotaOf(object);
    return { ...reduced, namespace: object.metadata?.namespace ?? namespace };
  });
  const deviceClasses = objects('deviceclasses.yaml')?.map(extendedResourceName);
  const runtimeClasses = objects('runtimeclasses.yaml')?.map(({ metadata }) => String(metadata?.name));
  return {
    limits: (asked) => limits?.filter((limit) => limit.namespace === asked),
    deviceClassResources: () => deviceClasses && new Set(deviceClasses),
    runtimeClasses: () => runtimeClasses && new Set(runtimeClasses),
  };
}

function requestFor(
  object: unknown,
  namespace: string,
  subResource: string | undefined,
  oldObject: unknown,
): AdmissionRequest {
  const {
    apiVersion = 'v1',
    kind = 'Pod',
    metadata = {},
  } = object as { apiVersion?: string; kind?: string; metadata?: object };
  const [group = '', version = 'v1'] = apiVersion.includes('/') ? apiVersion.split('/') : ['', apiVersion];
  const read = readReview({
    apiVersion: 'admission.k8s.io/v1',
    kind: 'AdmissionReview',
    request: {
      uid: 'scenario',
      kind: { group, version, kind },
      operation: oldObject === undefined ? 'CREATE' : 'UPDATE',
      name: (metadata as { name?: string }).name ?? '',
      namespace,
      ...(subResource === undefined ? {} : { subResource }),
      object,
      oldObject: oldObject ?? null,
    },
  });
  if (!read.ok) throw new Error(read.message);
  return read.request;
}

export function patched(object: unknown, judgement: Judgement): unknown {
  // Applying puts the operations' own values into the document, and later operations change them there.
  const patch = structuredClone(judgement.answer.patch ?? []) as unknown as jsonpatch.Operation[];
  return jsonpatch.applyPatch(structuredClone(object), patch, true).newDocument;
}

/** Where the actual object lacks what is expected: one line a field, empty when all is there. */
export function differences(expected: unknown, actual: unknown, path = ''): readonly string[] {
  if (expected === null) return actual === undefined ? [] : [`${path} is ${JSON.stringify(actual)}, expected none`];
  if (typeof expected !== 'object') {
    return expected === actual ? [] : [`${path} is ${JSON.stringify(actual)}, expected ${JSON.stringify(expected)}`];
  }
  if (typeof actual !== 'object' || actual === null) return [`${path} is ${JSON.stringify(actual)}, expected more`];
  const given = Array.isArray(actual) ? actual.length : undefined;
  if (Array.isArray(expected) && expected.length !== given)
    return [`${path} has ${given} items: ${JSON.stringify(actual)}`];
  return Object.entries(expected).flatMap(([key, value]) =>
    differences(value, (actual as Readonly<Record<string, unknown>>)[key], `${path}/${key}`),
  );
}
