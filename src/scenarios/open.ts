import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { type Document, parseAllDocuments, parseDocument } from 'yaml';
import { type AdmissionRequest, readReview } from '../admission/review.ts';
import { type Extras, extendedResourceName, type Limits, limitRangeOf, quotaOf } from '../cluster/extras.ts';
import { openFiles } from '../cluster/files.ts';
import type { KubernetesObject } from '../cluster/store.ts';
import { readGiven } from '../files/unread.ts';
import { yamlMistake } from '../files/yaml-mistake.ts';
import { contentOf } from '../manifests/read.ts';
import { readPolicies } from '../policy/files.ts';
import { createJudge, type Judgement, type Webhook } from '../server/judge.ts';

/** The files of a scenario beside `input.yaml` and `expected.yaml`; each may be missing, and then is not known. */
export const GIVEN_FILES = [
  'policy.yaml',
  'namespace.yaml',
  'nodes.yaml',
  'limits.yaml',
  'deviceclasses.yaml',
  'runtimeclasses.yaml',
  'old.yaml',
] as const;

/** Files and folders that stand in for those that a scenario does not have itself. */
export interface Shared {
  readonly policies?: string;
  readonly namespaces?: string;
  readonly nodes?: string;
}

export interface OpenScenario {
  readonly input: Manifest;
  /** Asks the webhook about an object in the place of the input. */
  readonly ask: (webhook: Webhook, object: unknown) => Promise<Judgement>;
}

interface Manifest extends KubernetesObject {
  readonly apiVersion?: string;
  readonly kind?: string;
}

/**
 * Reads what a scenario's folder gives: the object under review, and whom to ask about it.
 * @throws Error with one line for each mistake in its files.
 */
export async function openScenario(folder: string, subResource?: string, shared: Shared = {}): Promise<OpenScenario> {
  const own = (base: (typeof GIVEN_FILES)[number]) => {
    const file = join(folder, base);
    return existsSync(file) ? file : undefined;
  };
  const input = await manifestOf(join(folder, 'input.yaml'));
  const oldFile = own('old.yaml');
  const old = oldFile === undefined ? undefined : await manifestOf(oldFile);
  const policyFile = own('policy.yaml') ?? shared.policies;
  const policies = policyFile === undefined ? new Map() : await readPolicies(policyFile);
  const namespaces = own('namespace.yaml') ?? shared.namespaces;
  const nodes = own('nodes.yaml') ?? shared.nodes;
  const cluster = await openFiles({
    ...(namespaces === undefined ? {} : { namespaces }),
    ...(nodes === undefined ? {} : { nodes }),
  });
  const namespace = input.metadata?.namespace ?? [...cluster.namespaces().keys()][0] ?? 'team-a';
  const limits = await objectsOf(own('limits.yaml'));
  const deviceClasses = await objectsOf(own('deviceclasses.yaml'));
  const runtimeClasses = await objectsOf(own('runtimeclasses.yaml'));
  const extras = extrasOf({ limits, deviceClasses, runtimeClasses }, namespace);
  const judge = createJudge({ cluster: { ...cluster, extras }, policies: { current: () => policies } });
  return { input, ask: async (webhook, object) => judge(webhook, requestFor(object, namespace, subResource, old)) };
}

async function objectsOf(file: string | undefined): Promise<readonly Manifest[] | undefined> {
  if (file === undefined) return undefined;
  const text = await readGiven(file);
  const documents = parseAllDocuments(text, { merge: true, prettyErrors: false });
  return documents.map((document) => contentIn(file, text, document) as Manifest);
}

/** @throws Error that names the file, and the line where one is to blame. */
export function contentIn(file: string, text: string, document: Document.Parsed): unknown {
  const [error] = document.errors;
  if (error) {
    const line = text.slice(0, error.pos[0]).split('\n').length;
    throw new Error(`${file}:${line}: ${yamlMistake(error, text)}`);
  }
  try {
    return contentOf(document);
  } catch (thrown) {
    throw new Error(`${file}: ${(thrown as Error).message}`);
  }
}

async function manifestOf(file: string): Promise<Manifest> {
  const text = await readGiven(file);
  const object = contentIn(file, text, parseDocument(text, { merge: true, prettyErrors: false }));
  if (typeof object !== 'object' || object === null || Array.isArray(object)) {
    throw new Error(`${file}: holds no Kubernetes object`);
  }
  return object;
}

/** What a cluster would tell, read from the objects as the watches read them. An object without a namespace is in the scenario's. */
function extrasOf(
  given: Readonly<Record<'limits' | 'deviceClasses' | 'runtimeClasses', readonly Manifest[] | undefined>>,
  namespace: string,
): Extras {
  const limits = given.limits?.map((object): Limits => {
    const reduced = object.kind === 'LimitRange' ? limitRangeOf(object) : quotaOf(object);
    return { ...reduced, namespace: object.metadata?.namespace ?? namespace };
  });
  const deviceClasses = given.deviceClasses?.map(extendedResourceName);
  const runtimeClasses = given.runtimeClasses?.map(({ metadata }) => String(metadata?.name));
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
  const { apiVersion = 'v1', kind = 'Pod', metadata } = object as Manifest;
  const [group = '', version = 'v1'] = apiVersion.includes('/') ? apiVersion.split('/') : ['', apiVersion];
  const read = readReview({
    apiVersion: 'admission.k8s.io/v1',
    kind: 'AdmissionReview',
    request: {
      uid: 'scenario',
      kind: { group, version, kind },
      operation: oldObject === undefined ? 'CREATE' : 'UPDATE',
      name: metadata?.name ?? '',
      namespace,
      ...(subResource === undefined ? {} : { subResource }),
      object,
      oldObject: oldObject ?? null,
    },
  });
  if (!read.ok) throw new Error(read.message);
  return read.request;
}
