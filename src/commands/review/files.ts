import type { PatchOperation } from '../../admission/patch.ts';
import type { TemplateKinds } from '../../admission/template-kinds.ts';
import { type Edited, edit } from '../../manifests/edit.ts';
import { placeOfField, placeOfObject, sharesText } from '../../manifests/places.ts';
import { type Manifest, readManifests } from '../../manifests/read.ts';
import { type Rewritten, rewritten, type Splice, spliced } from '../../manifests/spliced.ts';
import { asksSomewhere } from '../../manifests/unknown-kind.ts';
import { type Notice, nameOf, type ReportedObject } from '../../report/result.ts';
import type { Judge } from '../../server/judge.ts';
import { type Fix, fixesOf } from './fixes.ts';
import { asksForGpus, nameIn, requestOf, type Verdict, verdictOf } from './verdict.ts';

/** How files are judged. */
export interface Reviewing {
  readonly judge: Judge;
  readonly kinds: TemplateKinds;
  readonly gpuResources: readonly string[];
  readonly namespaceOf: (manifest: Manifest) => string | undefined;
  /** Called for an object that asks for GPUs, or of which something is found, in a namespace. */
  readonly onNamespace: (namespace: string) => void;
  /** Called for an object that is not judged, since nothing is known of its kind, and asks for GPUs somewhere. */
  readonly onUnknownKind: (manifest: Manifest) => void;
  /** Whether nothing of a namespace is ever sent to the webhook. */
  readonly isExcluded: (namespace: string) => boolean;
}

/** What was found in one text, and what it would be. */
export interface ReviewedText {
  readonly unreadable: readonly Notice[];
  /** Its text as the webhook leaves it. */
  readonly mutated: string;
  /** Its text with all that the policy changes, of pods and workloads alike. */
  readonly changed: Rewritten;
  /** Its text with what can be fixed without a guess. */
  readonly fixed: Rewritten;
  /** What is fixed in that text. */
  readonly fixes: readonly Notice[];
  /** What could be fixed without a guess, but not in this text. */
  readonly unfixed: readonly Notice[];
  /** Objects whose text can't be edited. */
  readonly unedited: readonly Notice[];
}

/** Reviews the objects of one text, and hands each on. */
export async function reviewText(
  file: string,
  text: string,
  reviewing: Reviewing,
  onObject: (object: ReportedObject) => void,
): Promise<ReviewedText> {
  const unreadable: Notice[] = [];
  const unfixed: Notice[] = [];
  const unedited: Notice[] = [];
  const parts = { mutated: [] as Splice[], changed: [] as Splice[], fixed: [] as Splice[] };
  const fixes: Notice[] = [];
  for (const read of readManifests(file, text)) {
    if ('unreadable' in read) {
      unreadable.push(read.unreadable);
      continue;
    }
    const { manifest } = read;
    const verdict = await judged(manifest, reviewing);
    if (verdict === undefined) continue;
    if ('mistake' in verdict) {
      unreadable.push({ ...startOf(manifest), message: verdict.mistake });
      continue;
    }
    const edited = editOf(manifest, verdict.written);
    if (edited) {
      parts.changed.push(...(edited.splices ?? []));
      const made = edited.splices ?? (edited.rewritten ? [edited.rewritten] : undefined);
      if (verdict.outcome === 'changed') parts.mutated.push(...(made ?? []));
      if (!edited.splices)
        unedited.push({ ...startOf(manifest), message: `its text is left as it is: ${whyUnedited(manifest)}` });
    }
    const found = manifest.review ? [] : fixesOf(manifest.object, verdict.found);
    const made = fixable(manifest, found);
    parts.fixed.push(...made.splices);
    const namespace = reviewing.namespaceOf(manifest);
    fixes.push(...made.fixes.map((fix) => fixOf(manifest, namespace, fix)));
    unfixed.push(...found.filter((fix) => !made.fixes.includes(fix)).map((fix) => unfixedOf(manifest, fix)));
    onObject(reportedOf(manifest, namespace, verdict, edited?.diff));
  }
  return {
    unreadable,
    unfixed,
    unedited,
    mutated: spliced(text, parts.mutated),
    changed: rewritten(text, parts.changed),
    fixed: rewritten(text, parts.fixed),
    fixes,
  };
}

/** All fixes of an object where that can be written, since some can only be made together; else as many as can. */
function fixable(
  manifest: Manifest,
  found: readonly Fix[],
): { readonly fixes: readonly Fix[]; readonly splices: readonly Splice[] } {
  const splicesFor = (fixes: readonly Fix[]) =>
    editOf(
      manifest,
      fixes.flatMap(({ operations }) => operations),
    )?.splices;
  const all = splicesFor(found);
  if (all) return { fixes: found, splices: all };
  const fixes: Fix[] = [];
  for (const fix of found) if (splicesFor([...fixes, fix])) fixes.push(fix);
  return { fixes, splices: splicesFor(fixes) ?? [] };
}

function whyUnedited({ source }: Manifest): string {
  return sharesText(source)
    ? 'what would be changed stands at a YAML anchor, and other places share it'
    : 'it is written in a way that cannot be edited without a risk';
}

function fixOf(manifest: Manifest, namespace: string | undefined, { code, container, field, line }: Fix): Notice {
  const { kind, object } = manifest;
  const name = nameOf({ kind, name: nameIn(object), ...(namespace === undefined ? {} : { namespace }) });
  return { ...placeIn(manifest, field), message: `${code} ${name}, container "${container}": ${line} is written` };
}

function unfixedOf(manifest: Manifest, { code, field, line }: Fix): Notice {
  const message = `${code} is not fixed: ${whyUnedited(manifest)}; write ${line} by hand`;
  return { ...placeIn(manifest, field), message };
}

/** Where a field stands, else where its object begins. */
function placeIn(manifest: Manifest, field: string): Pick<Notice, 'file' | 'line' | 'column'> {
  const place = placeOfField(manifest.source, field);
  return { ...startOf(manifest), ...(place ? { line: place.line, column: place.column } : {}) };
}

/** Undefined for what the webhook does not look at. */
async function judged(
  manifest: Manifest,
  { judge, kinds, gpuResources, namespaceOf, onNamespace, onUnknownKind, isExcluded }: Reviewing,
): Promise<Verdict | { readonly mistake: string } | undefined> {
  const namespace = namespaceOf(manifest);
  const read = requestOf(manifest, namespace);
  if ('mistake' in read) return read;
  const { request } = read;
  const { group, kind } = request.kind;
  const known =
    (group === '' && (kind === 'Pod' || kind === 'Namespace')) ||
    (group === 'gpugate.dev' && kind === 'GpuPolicy') ||
    kinds.has(`${group}/${kind}`);
  if (!known && asksSomewhere(manifest.object, gpuResources)) onUnknownKind(manifest);
  if (!known || (namespace !== undefined && isExcluded(namespace))) return undefined;
  const verdict = await verdictOf(judge, manifest, request, kinds);
  if (namespace !== undefined && (verdict.found.length > 0 || asksForGpus(request, kinds, gpuResources))) {
    onNamespace(namespace);
  }
  return verdict;
}

function editOf({ source, object }: Manifest, operations: readonly PatchOperation[]): Edited | undefined {
  return operations.length === 0 ? undefined : edit(source, object, operations);
}

/** Where an object begins, as notices say it. */
export function startOf({ source }: Manifest): Pick<Notice, 'file' | 'line' | 'column'> {
  const place = placeOfObject(source);
  return place ? { file: place.file, line: place.line, column: place.column } : { file: source.file };
}

function reportedOf(
  { apiVersion, kind, object, source }: Manifest,
  namespace: string | undefined,
  { outcome, mode, policy, findings, changes, warnings, message, written }: Verdict,
  diff: string | undefined,
): ReportedObject {
  const place = placeOfObject(source);
  return {
    apiVersion,
    kind,
    ...(namespace === undefined ? {} : { namespace }),
    name: nameIn(object),
    ...(place ? { place } : {}),
    ...(policy === '' ? {} : { policy }),
    mode,
    outcome,
    findings,
    changes,
    warnings,
    ...(message === undefined ? {} : { message }),
    ...(written.length > 0 ? { patch: written } : {}),
    ...(diff === undefined ? {} : { diff }),
  };
}
