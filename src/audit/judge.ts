import { decide } from '../admission/decide.ts';
import { evaluate } from '../admission/evaluate.ts';
import type { Finding, Severity } from '../admission/findings.ts';
import { asArray, asObject } from '../admission/pod.ts';
import type { Snapshot } from '../admission/snapshot.ts';
import type { TemplateKind } from '../admission/template-kinds.ts';
import { decideWorkload } from '../admission/workload.ts';
import { type EffectivePolicy, type PolicyProblem, renamesGpus } from '../policy/policy.ts';
import { WHOLE_GPU } from '../policy/resources.ts';
import type { ReportedFinding } from '../report/result.ts';

/** One finding of a live object: `error` where the webhook would refuse the object, or its pods, today. */
export type Judgement = Omit<ReportedFinding, 'level'> & { readonly level: Exclude<Severity, 'note'> };

const MIRROR_POD = 'kubernetes.io/config.mirror';

/** Whether a live pod is looked at: not one that has ended or is on its way out, nor one that no API server was asked for. */
export function isJudged(pod: unknown): boolean {
  const { metadata, status } = asObject(pod) ?? {};
  const { deletionTimestamp, annotations } = asObject(metadata) ?? {};
  const { phase } = asObject(status) ?? {};
  const ended = phase === 'Succeeded' || phase === 'Failed';
  return !ended && deletionTimestamp === undefined && !(MIRROR_POD in (asObject(annotations) ?? {}));
}

/** A live pod, as the validating webhook would judge it if it were made as it is now. */
export function judgePod(pod: unknown, policy: EffectivePolicy, snapshot: Snapshot): readonly Judgement[] {
  const request = { pod, path: [], kind: 'Pod', object: pod };
  const { denials, findings } = decide(evaluate(request, policy, snapshot), policy, 'validate', true);
  // A pod that is refused would never be changed, so that it lacks no change.
  const refused = denials.some(({ code }) => code !== 'GPU180');
  return judgementsOf(refused ? findings.filter(({ code }) => code !== 'GPU180') : findings, denials);
}

/** The templates of a workload, as their pods would be judged. */
export function judgeWorkload(
  object: unknown,
  kind: TemplateKind,
  policy: EffectivePolicy,
  snapshot: Snapshot,
): readonly Judgement[] {
  const { decision, preview } = decideWorkload('validate', { kind, object }, policy, snapshot);
  return judgementsOf(decision.findings, [...preview().denials, ...decision.denials]);
}

function judgementsOf(findings: readonly Finding[], denials: readonly Finding[]): readonly Judgement[] {
  const refused = new Set(denials.map(keyOf));
  return findings
    .filter((finding) => finding.severity !== 'note')
    .map((finding) => judgement(finding, refused.has(keyOf(finding)) ? 'error' : 'warning'));
}

function keyOf({ code, field, message }: Finding): string {
  return JSON.stringify([code, field, message]);
}

function judgement({ code, container, field, value, message, fix }: Finding, level: Judgement['level']): Judgement {
  const [, missing] = /^a required change is missing \((.*)\): the policy changed/s.exec(message) ?? [];
  return {
    code,
    level,
    field,
    ...(value === undefined ? {} : { value }),
    ...(container ? { container: container.name } : {}),
    // A live pod is not to be tried again: it is to be made anew.
    message:
      missing === undefined
        ? message
        : `lacks what the policy requires (${missing}): it is older, or came past the webhook.`,
    fix: missing === undefined ? fix : RESTART,
  };
}

/** Stands for the command that makes the pods of an owner anew. */
const RESTART = 'Make it anew.';

/** How the pods of an owner are made anew. */
export function restartText(kind: string, name: string, namespace: string | undefined): string {
  const rolls = ['Deployment', 'StatefulSet', 'DaemonSet'].includes(kind);
  const command = `kubectl rollout restart ${kind.toLowerCase()}/${name} -n ${namespace}`;
  return rolls ? `Make its pods anew: ${command}.` : 'Delete it and make it anew.';
}

export function isRestart({ fix }: Pick<Judgement, 'fix'>): boolean {
  return fix === RESTART;
}

/** Labels of a namespace that are not understood, and what every GPU pod of it would meet: quotas, nodes, runtime classes. */
export function judgeNamespace(policy: EffectivePolicy, snapshot: Snapshot): readonly Judgement[] {
  const told = [
    ...policy.problems.map((problem) => problemJudgement(problem, policy.mode === 'enforce' ? 'error' : 'warning')),
    ...policy.warnings.map((problem) => problemJudgement(problem, 'warning')),
  ];
  if (!policy.governed || policy.problems.length > 0) return told;
  const findings = evaluate({ pod: ONE_GPU, path: [], kind: 'Pod' }, policy, snapshot).findings;
  const about = renamesGpus(policy) ? ['GPU160', 'GPU161', 'GPU131'] : ['GPU131'];
  const namespaceWide = findings.filter(({ code, severity }) => about.includes(code) && severity !== 'note');
  return [...told, ...namespaceWide.map((finding) => ({ ...judgement(finding, 'warning'), field: 'metadata.labels' }))];
}

const ONE_GPU = { metadata: {}, spec: { containers: [{ name: 'c', resources: { limits: { [WHOLE_GPU]: '1' } } }] } };

function problemJudgement({ code, where, value, message, fix }: PolicyProblem, level: Judgement['level']): Judgement {
  const text = `${where}${value === undefined ? '' : ` is "${value}", which`} ${message}.`;
  return { code, level, field: 'metadata.labels', ...(value === undefined ? {} : { value }), message: text, fix };
}

/** What controls an object, as its owner references tell. */
export interface Owner {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly uid: string;
}

export function controllerOf(object: unknown): Owner | undefined {
  const references = asArray(asObject(asObject(object)?.metadata)?.ownerReferences).map(asObject);
  const owner = references.find((reference) => reference?.controller === true);
  if (!owner) return undefined;
  const { apiVersion, kind, name, uid } = owner;
  return { apiVersion: String(apiVersion), kind: String(kind), name: String(name), uid: String(uid) };
}
