import { withTemplateKinds } from '../../admission/template-kinds.ts';
import { openFiles } from '../../cluster/files.ts';
import { fileDiff } from '../../manifests/file-diff.ts';
import { type Manifest, readManifests } from '../../manifests/read.ts';
import { afterBoth, type Rewritten } from '../../manifests/spliced.ts';
import { unknownKindText } from '../../manifests/unknown-kind.ts';
import { readPolicies } from '../../policy/files.ts';
import { EXCLUDED_NAMESPACES } from '../../registration/entries.ts';
import { noticeLine } from '../../report/lines.ts';
import { excludedNamespace, type Notice } from '../../report/result.ts';
import { createJudge } from '../../server/judge.ts';
import { withCluster } from '../cluster-flags.ts';
import { replaceFile } from '../output.ts';
import type { ReviewOptions } from '../review.ts';
import { orInput } from '../sources.ts';
import { openTemplateKinds } from '../templates.ts';
import { type ReviewedText, type Reviewing, reviewText, startOf } from './files.ts';
import { gatherKnown, type Known, MAY_HOLD_KNOWN, sourceOf } from './known.ts';
import { type Printer, printerOf } from './printer.ts';
import { openTexts, patchName, readText, shownName, type Text, type Texts } from './texts.ts';

/** Reviews manifests, prints what was found, and answers the exit code. */
export async function review(paths: readonly string[], options: ReviewOptions): Promise<number> {
  const texts = await openTexts(paths);
  const before = await knownBefore(options);
  const namespaceOf = namespacesBy(options.namespace ?? before.namespace ?? 'default');
  const gathered = gatherKnown(before, namespaceOf);
  for (const file of texts.files) await gather(texts, file, gathered.add);
  const known = gathered.known();
  const kinds = options.templates === undefined ? withTemplateKinds() : await openTemplateKinds(options.templates);
  const cluster = sourceOf(known, options.namespaceLabel);
  const unknown = new Set<string>();
  const excluded = new Set<string>();
  const unknownKinds = new Map<string, Notice>();
  const reviewing: Reviewing = {
    judge: createJudge({
      cluster,
      policies: { current: () => known.policies },
      gpuResources: options.gpuResources,
      templateKinds: kinds,
    }),
    kinds,
    gpuResources: options.gpuResources,
    namespaceOf,
    onNamespace: (namespace) => {
      if (!cluster.known(namespace)) unknown.add(namespace);
    },
    onUnknownKind: (manifest) => {
      const message = unknownKindText(manifest, kinds);
      if (!unknownKinds.has(message)) unknownKinds.set(message, { ...startOf(manifest), message });
    },
    isExcluded: (namespace) => {
      if (!EXCLUDED_NAMESPACES.includes(namespace)) return false;
      excluded.add(namespace);
      return true;
    },
  };

  const printer = printerOf(options);
  const unreadable: Notice[] = [...texts.unreadable, ...gathered.unreadable];
  const notices: Notice[] = [...texts.notices, ...gathered.notices];
  for (const file of texts.files) {
    const read = await readText(texts, file);
    if ('why' in read) {
      unreadable.push({ file: shownName(file), message: read.why });
      continue;
    }
    const ended = await reviewFile(file, read, reviewing, options, printer);
    unreadable.push(...ended.unreadable);
    if (options.mutated || options.fixPolicy || printer.wants('patch')) notices.push(...ended.unedited);
  }
  notices.push(...unknownKinds.values());
  notices.push(...[...unknown].map((name) => unknownNamespace(name, options)), ...[...excluded].map(excludedNamespace));
  return printer.end(notices, unreadable);
}

/** A file with its fixes, where they are asked for, written or only shown; then what is left to say of it. */
async function reviewFile(
  file: string,
  before: Text,
  reviewing: Reviewing,
  options: ReviewOptions,
  printer: Printer,
): Promise<ReviewedText> {
  const shown = shownName(file);
  const { text, mark } = before;
  if (!options.fix && !options.fixPolicy) {
    const reviewed = await reviewText(shown, text, reviewing, printer.object);
    printer.file(file, before, reviewed);
    return reviewed;
  }
  const first = await reviewText(shown, text, reviewing, () => {});
  if (options.fix) for (const notice of first.unfixed) printer.say(noticeLine(notice));
  const fixed = options.fix ? first.fixed : { text, changes: [] };
  const { text: left, changes } = options.fixPolicy ? await withPolicy(shown, fixed, reviewing) : fixed;
  if (left !== text) {
    if (options.dryRun) printer.diff(fileDiff(patchName(file) ?? shown, before, { text: left, changes }));
    else {
      await replaceFile(file, `${mark}${left}`);
      if (options.fix) for (const notice of first.fixes) printer.say(noticeLine(notice));
      if (left !== fixed.text) printer.say(`${shown}: what the policy changes is written`);
    }
  }
  const now = { text: options.dryRun ? text : left, mark };
  const reviewed = await reviewText(shown, now.text, reviewing, printer.object);
  printer.file(file, now, reviewed);
  return reviewed;
}

/** With what the policies change beside what was fixed. */
async function withPolicy(shown: string, fixed: Rewritten, reviewing: Reviewing): Promise<Rewritten> {
  const { changed } = await reviewText(shown, fixed.text, reviewing, () => {});
  return { text: changed.text, changes: afterBoth(fixed.changes, changed.changes) };
}

async function gather(texts: Texts, file: string, add: (manifest: Manifest) => void): Promise<void> {
  const read = await readText(texts, file);
  // What can't be read is told when the file is reviewed.
  if (!('text' in read) || !MAY_HOLD_KNOWN.test(read.text)) return;
  for (const part of readManifests(shownName(file), read.text)) if ('manifest' in part) add(part.manifest);
}

/** What the flags give: files, or a cluster and files over it. */
async function knownBefore(options: ReviewOptions): Promise<Known & { readonly namespace?: string }> {
  const { cluster, policies, namespaces, nodes } = options;
  const live = cluster
    ? await withCluster(options, async (client, signal) => {
        const { knownOfCluster } = await import('./live.ts');
        return { ...(await knownOfCluster(client, signal)), namespace: client.namespace };
      })
    : undefined;
  const files = await orInput(
    openFiles({ ...(namespaces === undefined ? {} : { namespaces }), ...(nodes === undefined ? {} : { nodes }) }),
  );
  const given = policies === undefined ? [] : await orInput(readPolicies(policies));
  return {
    ...live,
    policies: new Map([...(live?.policies ?? []), ...given]),
    namespaces: new Map([...(live?.namespaces ?? []), ...files.namespaces()]),
    nodes: nodes === undefined ? (live?.nodes ?? []) : files.nodes(),
  };
}

const CLUSTER_SCOPED = new Set(['Namespace', 'GpuPolicy', 'Node', 'DeviceClass', 'RuntimeClass']);

/** The namespace of an object: of a recorded review the request's, else its own, else the one that was given. */
function namespacesBy(given: string): (manifest: Manifest) => string | undefined {
  return ({ kind, object, review: recorded }) => {
    if (CLUSTER_SCOPED.has(kind)) return undefined;
    const request = recorded?.request as { namespace?: unknown } | undefined;
    const own = (object.metadata as { namespace?: unknown } | undefined)?.namespace;
    return [request?.namespace, own, given].find((name): name is string => typeof name === 'string' && name !== '');
  };
}

function unknownNamespace(namespace: string, { cluster }: ReviewOptions): Notice {
  const what = cluster ? `the cluster has no namespace ${namespace}` : `namespace ${namespace} is not known`;
  const give = 'give its manifest (--namespaces, or among the others)';
  const others = cluster ? ', or --namespace-label' : ', --namespace-label, or --cluster';
  return { message: `${what}, so only arithmetic is judged in it; ${give}${others}` };
}
