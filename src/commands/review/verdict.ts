import jsonpatch from 'fast-json-patch';
import type { Change, Finding } from '../../admission/findings.ts';
import type { PatchOperation } from '../../admission/patch.ts';
import { asObject, viewPod } from '../../admission/pod.ts';
import { type AdmissionRequest, readReview } from '../../admission/review.ts';
import type { TemplateKinds } from '../../admission/template-kinds.ts';
import { templatesOf, valueAt } from '../../admission/templates.ts';
import { asWritten } from '../../manifests/as-written.ts';
import { withDefaultRequests } from '../../manifests/defaults.ts';
import { placeOfField } from '../../manifests/places.ts';
import type { Manifest, Source } from '../../manifests/read.ts';
import type { Outcome, ReportedChange, ReportedFinding } from '../../report/result.ts';
import type { Judge, Judgement } from '../../server/judge.ts';

type Path = readonly (string | number)[];

/** What becomes of one object at the API server. */
export interface Verdict {
  readonly outcome: Outcome;
  readonly mode: Judgement['mode'];
  readonly policy: string;
  readonly findings: readonly ReportedFinding[];
  /** As the rules gave them. */
  readonly found: readonly Finding[];
  readonly changes: readonly ReportedChange[];
  readonly warnings: readonly string[];
  readonly message: string | undefined;
  /** The patch of the webhook, or what is announced, as the file needs it. */
  readonly written: readonly PatchOperation[];
}

/** The request that the API server would send for an object that is created, or the one that was recorded. */
export function requestOf(
  manifest: Manifest,
  namespace: string | undefined,
): { readonly request: AdmissionRequest } | { readonly mistake: string } {
  const { apiVersion, kind, object, review } = manifest;
  const [group = '', version = ''] = apiVersion.includes('/') ? apiVersion.split('/') : ['', apiVersion];
  const made = {
    uid: 'review',
    kind: { group, version, kind },
    operation: 'CREATE',
    name: nameIn(object),
    namespace,
    object,
  };
  const read = readReview(review ?? { apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview', request: made });
  return read.ok ? { request: read.request } : { mistake: read.message };
}

/** Asks both webhooks as the API server does: the mutating one, then the validating one about what came out. */
export async function verdictOf(
  judge: Judge,
  manifest: Manifest,
  request: AdmissionRequest,
  kinds: TemplateKinds,
): Promise<Verdict> {
  const recorded = manifest.review !== undefined;
  const paths = podPaths(request, kinds);
  const isPod = request.kind.group === '' && request.kind.kind === 'Pod';
  // A recorded object had its defaults; the templates of a workload have none, but its pods come with them.
  const defaulted = (object: unknown) => (recorded ? object : withDefaultRequests(object, paths));
  const sent = isPod ? defaulted(request.object) : request.object;
  const mutate = await judge('mutate', { ...request, object: sent });
  const patch = mutate.answer.patch ?? [];
  const after = { ...request, object: defaulted(patched(sent, patch)) };
  const validate = mutate.answer.allowed ? await judge('validate', after) : undefined;
  const final = validate ?? mutate;

  const isMade = patch.length > 0;
  // Of pods the mutating webhook announces what it does not make, of workloads the validating one.
  const told = (isMade || isPod ? mutate : final).changes;
  const preview = (isPod ? mutate : final).preview?.() ?? { denials: [], patch: [] };
  const operations = isMade ? patch : told.length > 0 ? preview.patch : [];
  const written = recorded ? operations : asWritten(request.object, operations);
  const { allowed } = final.answer;
  const outcome = outcomeOf(allowed, preview.denials.length > 0, written.length > 0, isMade);
  const mode = final.mode === 'none' ? mutate.mode : final.mode;
  const refused = (finding: Finding) =>
    mode === 'enforce' || mode === 'none' || finding.refusedAnyway === true || preview.denials.some(same(finding));
  const found = union(mutate.findings, validate?.findings ?? []);
  return {
    outcome,
    mode,
    policy: final.policy || mutate.policy,
    found,
    findings: found.map((finding) => reported(finding, manifest.source, refused(finding))),
    changes: outcome === 'denied' || written.length === 0 ? [] : changesOf(told),
    warnings: [...new Set([...mutate.answer.warnings, ...(validate?.answer.warnings ?? [])])],
    message: final.answer.message,
    written: allowed ? written : [],
  };
}

function outcomeOf(allowed: boolean, podsDenied: boolean, changes: boolean, made: boolean): Outcome {
  if (!allowed) return 'denied';
  if (podsDenied) return 'pods-denied';
  if (!changes) return 'clean';
  return made ? 'changed' : 'announced';
}

/** Where the pods of an object stand: nowhere in what is neither a Pod nor a workload. */
function podPaths({ kind, object, subResource }: AdmissionRequest, kinds: TemplateKinds): readonly Path[] {
  if (kind.group === '' && kind.kind === 'Pod') return subResource === undefined ? [[]] : [];
  const known = kinds.get(`${kind.group}/${kind.kind}`);
  return known
    ? templatesOf(object, known).flatMap(({ path, resources }) => (resources === undefined ? [path] : []))
    : [];
}

/** Whether some container of an object asks for a GPU. */
export function asksForGpus(request: AdmissionRequest, kinds: TemplateKinds, extra: readonly string[]): boolean {
  return podPaths(request, kinds).some((path) =>
    viewPod(valueAt(request.object, path), path, extra).containers.some(({ gpus }) => gpus.length > 0),
  );
}

function patched(object: unknown, patch: readonly PatchOperation[]): unknown {
  if (patch.length === 0) return object;
  // Applying puts the operations' own values into the document, and later operations change them there.
  const operations = structuredClone(patch) as unknown as jsonpatch.Operation[];
  return jsonpatch.applyPatch(structuredClone(object), operations).newDocument;
}

function same(a: Finding): (b: Finding) => boolean {
  return (b) => a.code === b.code && a.field === b.field;
}

function union(first: readonly Finding[], second: readonly Finding[]): readonly Finding[] {
  return [...first, ...second.filter((finding) => !first.some(same(finding)))];
}

function reported(finding: Finding, source: Source, refused: boolean): ReportedFinding {
  const { code, severity, field, value, container, message, fix } = finding;
  const place = placeOfField(source, field);
  return {
    code,
    level: severity === 'error' && !refused ? 'warning' : severity,
    field,
    ...(value === undefined ? {} : { value }),
    ...(container === undefined ? {} : { container: container.name }),
    message,
    fix,
    ...(place ? { place } : {}),
  };
}

/** Told once each; annotations only record the others. */
function changesOf(changes: readonly Change[]): readonly ReportedChange[] {
  const told = new Map<string, ReportedChange>();
  for (const change of changes) {
    if (change.type === 'set-annotation') continue;
    const container = 'container' in change ? { container: change.container.name } : {};
    const line = { code: change.code, ...container, reason: change.reason };
    told.set(JSON.stringify(line), line);
  }
  return [...told.values()];
}

/** The name, or the start of one. */
export function nameIn(object: unknown): string {
  const { name, generateName } = asObject(asObject(object)?.metadata) ?? {};
  return [name, generateName].find((text): text is string => typeof text === 'string' && text !== '') ?? '';
}
