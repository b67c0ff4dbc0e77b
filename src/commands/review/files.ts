import type { PatchOperation } from '../../admission/patch.ts';
import type { TemplateKinds } from '../../admission/template-kinds.ts';
import { type Edited, edit } from '../../manifests/edit.ts';
import { placeOfObject } from '../../manifests/places.ts';
import { type Manifest, readManifests } from '../../manifests/read.ts';
import { type Splice, spliced } from '../../manifests/splices.ts';
import type { Notice, ReportedObject } from '../../report/result.ts';
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
  /** Whether nothing of a namespace is ever sent to the webhook. */
  readonly isExcluded: (namespace: string) => boolean;
}

/** What was found in one text, and what it would be. */
export interface ReviewedText {
  readonly unreadable: readonly Notice[];
  /** Its text as the webhook leaves it. */
  readonly mutated: string;
  /** Its text with all that the policy changes, of pods and workloads alike. */
  readonly changed: string;
  /** Its text with what can be fixed without a guess. */
  readonly fixed: string;
  readonly fixes: readonly Fix[];
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
  const unedited: Notice[] = [];
  const parts = { mutated: [] as Splice[], changed: [] as Splice[], fixed: [] as Splice[] };
  const fixes: Fix[] = [];
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
      if (!edited.splices) unedited.push({ ...startOf(manifest), message: UNEDITED });
    }
    const found = manifest.review ? [] : fixesOf(manifest.object, verdict.found);
    const fixed = editOf(
      manifest,
      found.flatMap(({ operations }) => operations),
    );
    if (fixed?.splices) {
      parts.fixed.push(...fixed.splices);
      fixes.push(...found);
    }
    onObject(reportedOf(manifest, reviewing.namespaceOf(manifest), verdict, edited?.diff));
  }
  return {
    unreadable,
    unedited,
    mutated: spliced(text, parts.mutated),
    changed: spliced(text, parts.changed),
    fixed: spliced(text, parts.fixed),
    fixes,
  };
}

const UNEDITED = 'its text is left as it is: what would be changed stands at a YAML anchor, which other places share';

/** Undefined for what the webhook does not look at. */
async function judged(
  manifest: Manifest,
  { judge, kinds, gpuResources, namespaceOf, onNamespace, isExcluded }: Reviewing,
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

function startOf({ source }: Manifest): Pick<Notice, 'file' | 'line' | 'column'> {
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
