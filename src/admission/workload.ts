import { type EffectivePolicy, renamesGpus } from '../policy/policy.ts';
import { type Decision, decide } from './decide.ts';
import { evaluate } from './evaluate.ts';
import type { ContainerAt, Finding, Verdict } from './findings.ts';
import { type PatchOperation, patchOf, pointer } from './patch.ts';
import { fieldPath } from './pod.ts';
import type { Snapshot } from './snapshot.ts';
import { asksForTheSame, withoutRenamed } from './template-again.ts';
import type { TemplateKind } from './template-kinds.ts';
import { newTemplates, type Template, valueAt } from './templates.ts';

/** An object that holds pod templates, and what it was before. */
export interface WorkloadRequest {
  readonly kind: TemplateKind;
  readonly object: unknown;
  /** Undefined for an object that is made. */
  readonly oldObject?: unknown;
}

export interface WorkloadDecision {
  readonly decision: Decision;
  readonly patch: readonly PatchOperation[];
  readonly preview: () => Preview;
}

/** What would become of the pods. */
export interface Preview {
  /** The findings that would refuse them. */
  readonly denials: readonly Finding[];
  /** Their changes, as a patch of the object under review. */
  readonly patch: readonly PatchOperation[];
}

/** One template's part of the decision. */
interface Part {
  readonly verdict: Verdict;
  /** Makes the changes of the verdict, or puts a live template back. */
  readonly patch: readonly PatchOperation[];
  /** The template's pods, by the same rules. */
  readonly pods: Verdict;
  readonly path: Template['path'];
}

const NOTHING: Verdict = { findings: [], changes: [] };

/**
 * Judges the templates of an object that are new, all in one decision. They are changed only where the policy says
 * `templates: mutate`: as their pods would be, once, and again to the same when the manifest comes back.
 */
export function decideWorkload(
  webhook: 'mutate' | 'validate',
  request: WorkloadRequest,
  policy: EffectivePolicy,
  snapshot: Snapshot,
): WorkloadDecision {
  const { object, oldObject, kind } = request;
  const changing = webhook === 'mutate' && policy.templates === 'mutate' && policy.mode === 'enforce';
  const parts = newTemplates(object, oldObject, kind).map((template) =>
    changing && template.resources === undefined
      ? changedPart(template, request, policy, snapshot)
      : previewedPart(template, request, policy, snapshot, webhook),
  );
  const verdict = merged(
    parts.map((part) => part.verdict),
    kind,
  );
  const decision = decide(verdict, policy, webhook === 'mutate' ? 'template-mutate' : 'template');
  const preview = () => previewOf(object, parts, policy);
  if (!decision.allowed) return { decision, patch: [], preview };
  return { decision, patch: parts.flatMap((part) => part.patch), preview };
}

function previewOf(object: unknown, parts: readonly Part[], policy: EffectivePolicy): Preview {
  const pods = parts.map(({ pods, path }) => ({ ...decide(pods, policy, 'mutate'), path }));
  return {
    denials: pods.flatMap(({ denials }) => denials),
    patch: pods.flatMap(({ changes, announced, path }) => patchOf(object, [...changes, ...announced], path)),
  };
}

function previewedPart(
  template: Template,
  request: WorkloadRequest,
  policy: EffectivePolicy,
  snapshot: Snapshot,
  webhook: 'mutate' | 'validate',
): Part {
  const { findings, changes } = atItsPlace(judge(template.template, template, request, policy, snapshot), template);
  // A container outside of a template is never changed: what its pod gets can't be written there.
  const pods = { findings, changes: template.resources === undefined ? changes : [] };
  return { verdict: { findings, changes: webhook === 'mutate' ? [] : changes }, patch: [], pods, path: template.path };
}

function changedPart(template: Template, request: WorkloadRequest, policy: EffectivePolicy, snapshot: Snapshot): Part {
  const { object, oldObject, kind } = request;
  const { path } = template;
  const old = valueAt(oldObject, path);
  if (old !== undefined && asksForTheSame(template.template, old, snapshot.gpuResources)) {
    const { findings, changes } = judge(old, template, request, policy, snapshot);
    const settled = !findings.some(({ severity }) => severity === 'error') && !changes.some(({ required }) => required);
    // What nodes or policies changed since then is no reason for a rollout, nor for a refusal of what can't change.
    if (kind.runsOnce || settled) {
      return { verdict: NOTHING, patch: [{ op: 'replace', path: pointer(path), value: old }], pods: NOTHING, path };
    }
  }
  if (old !== undefined && kind.runsOnce) {
    const pods = judge(template.template, template, request, policy, snapshot);
    return { verdict: { findings: pods.findings, changes: [] }, patch: [], pods, path };
  }

  const live = renamesGpus(policy) ? old : undefined;
  const { template: asked, drops } = withoutRenamed(template.template, live, path, snapshot.gpuResources);
  const verdict = judge(asked, template, request, policy, snapshot);
  return { verdict, patch: patchOf(object, [...drops, ...verdict.changes], path), pods: verdict, path };
}

function judge(
  pod: unknown,
  { path }: Template,
  { kind, object }: WorkloadRequest,
  policy: EffectivePolicy,
  snapshot: Snapshot,
): Verdict {
  return evaluate({ pod, path, kind: kind.kind, object }, policy, snapshot);
}

/** All verdicts as one; what is about the namespace is said once. */
function merged(verdicts: readonly Verdict[], { builtIn }: TemplateKind): Verdict {
  const findings = new Map<string, Finding>();
  for (const finding of verdicts.flatMap((verdict) => verdict.findings)) {
    const key = JSON.stringify([finding.code, finding.field, finding.message, finding.fix]);
    // The API server does not look into a custom resource's templates: it refuses their pods.
    if (!findings.has(key)) findings.set(key, builtIn ? finding : { ...finding, refusedAnyway: false });
  }
  return { findings: [...findings.values()], changes: verdicts.flatMap((verdict) => verdict.changes) };
}

/** Names what stands in a made-up template by the field that the user wrote: `spec.trainer.resourcesPerNode.limits[...]`. */
function atItsPlace({ findings, changes }: Verdict, { path, resources }: Template): Verdict {
  if (resources === undefined) return { findings, changes };
  const made = fieldPath([...path, 'spec', 'containers', 0]);
  const real = fieldPath(path);
  const field = (text: string) => text.replace(`${made}.resources`, `${real}.${resources}`).replace(made, real);
  const at = (container: ContainerAt): ContainerAt => ({ ...container, path, field: real });
  return {
    findings: findings.map((finding) => ({
      ...finding,
      field: field(finding.field),
      ...(finding.container ? { container: at(finding.container) } : {}),
    })),
    changes: changes.map((change) => ('container' in change ? { ...change, container: at(change.container) } : change)),
  };
}
