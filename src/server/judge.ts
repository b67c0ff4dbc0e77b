import { type Decision, decide, type Phase } from '../admission/decide.ts';
import { evaluate } from '../admission/evaluate.ts';
import type { Change, Code, Finding } from '../admission/findings.ts';
import { patchOf } from '../admission/patch.ts';
import { asObject } from '../admission/pod.ts';
import { reapply } from '../admission/reapply.ts';
import type { AdmissionRequest, Answer } from '../admission/review.ts';
import type { Snapshot } from '../admission/snapshot.ts';
import { hasController, templateAt, templatePath } from '../admission/templates.ts';
import type { ClusterSource } from '../cluster/source.ts';
import { readLabels } from '../policy/labels.ts';
import type { EffectivePolicy } from '../policy/policy.ts';
import { NO_POLICY, renamesGpus } from '../policy/policy.ts';
import { type PolicySet, resolvePolicy } from '../policy/resolve.ts';
import { denialText, findingText, type Subject, warningLine, warningLines } from '../report/denial.ts';

/** One judged request: the answer, and what the records and metrics tell of it. */
export interface Judgement {
  readonly answer: Answer;
  readonly mode: 'enforce' | 'warn' | 'audit' | 'none';
  readonly policy: string;
  readonly findings: readonly Pick<Finding, 'code' | 'severity'>[];
  readonly changes: readonly Pick<Change, 'code'>[];
}

export type Webhook = 'mutate' | 'validate';
export type Judge = (webhook: Webhook, request: AdmissionRequest, signal?: AbortSignal) => Promise<Judgement>;

export interface JudgeOptions {
  readonly cluster: ClusterSource;
  readonly policies: { current(): PolicySet };
  /** Resources that count as GPUs beside the catalogue. */
  readonly gpuResources?: readonly string[];
}

const MIRROR_POD = 'kubernetes.io/config.mirror';
const UNTOUCHED: Judgement = {
  answer: { allowed: true, warnings: [], auditAnnotations: {} },
  mode: 'none',
  policy: '',
  findings: [],
  changes: [],
};

/** Makes the judge: the one place where a request, the policy of its namespace and the cluster come together. */
export function createJudge({ cluster, policies, gpuResources = [] }: JudgeOptions): Judge {
  const policyOf = cachedPolicies(policies);

  return async (webhook, request) => {
    const { kind, operation, subResource, object, oldObject } = request;
    if (operation !== 'CREATE' && operation !== 'UPDATE') return UNTOUCHED;
    if (kind.group === '' && kind.kind === 'Namespace') return judgeNamespace(object);

    const work = workOf(webhook, request);
    if (work === 'none') return UNTOUCHED;
    if (work === 'reapply') {
      const patch = reapply(object, oldObject, gpuResources);
      return { ...UNTOUCHED, answer: { ...UNTOUCHED.answer, patch } };
    }

    const namespace = request.namespace ?? '';
    const judgeBy = (policy: EffectivePolicy): Judgement => {
      const snapshot = snapshotFor(policy, namespace);
      const added = subResource === 'ephemeralcontainers';
      const pod = templateAt(object, work.path);
      const podRequest = {
        pod,
        path: work.path,
        namespace,
        kind: kind.kind,
        object,
        ...(added ? { before: oldObject } : {}),
      };
      const decision = decide(
        evaluate(podRequest, policy, snapshot),
        policy,
        work.phase,
        work.phase !== 'validate' || added,
      );
      return judgementOf(decision, policy, subjectOf(request), object, work.path);
    };

    const known = cluster.known(namespace);
    if (!known) return judgeUnseen(namespace, work.phase, judgeBy);
    const judgement = judgeBy(policyOf(known));
    // Replicas and labels move: before a final pod is refused for a missing change, its namespace is read once more.
    const missed = work.phase === 'validate' && judgement.findings.some(({ code }) => code === 'GPU180');
    return missed ? judgeUnseen(namespace, work.phase, judgeBy, true) : judgement;
  };

  /** Quotas, limit ranges and DeviceClasses are asked for only where a rule will look at them. */
  function snapshotFor(policy: EffectivePolicy, namespace: string): Snapshot {
    const { extras } = cluster;
    const base = { nodes: cluster.nodes(), gpuResources };
    if (!extras || !policy.governed) return base;
    const limits = renamesGpus(policy) ? extras.limits(namespace) : undefined;
    return { ...base, deviceClassResources: extras.deviceClassResources(), limits };
  }

  async function judgeUnseen(
    namespace: string,
    phase: Phase,
    judgeBy: (policy: EffectivePolicy) => Judgement,
    refresh = false,
  ): Promise<Judgement> {
    const lookup = await cluster.namespaceLabels(namespace, { refresh });
    if (lookup.found === true) return judgeBy(policyOf(lookup.labels));
    if (lookup.found === false) return judgeBy(NO_POLICY);
    return phase === 'validate' ? unread(namespace, lookup.reason) : withWarning(judgeBy(NO_POLICY), namespace);
  }
}

type Work = 'none' | 'reapply' | { readonly phase: Phase; readonly path: readonly string[] };

/** What a request is to gpugate: a new pod, containers added to one, a manifest applied again, a template, or nothing. */
function workOf(webhook: Webhook, { kind, operation, subResource, object, oldObject }: AdmissionRequest): Work {
  if (kind.group === '' && kind.kind === 'Pod') {
    // Mirror pods stand for static pods; refusing them would stop nothing.
    if (MIRROR_POD in (asObject(asObject(asObject(object)?.metadata)?.annotations) ?? {})) return 'none';
    if (subResource === undefined && operation === 'UPDATE') return webhook === 'mutate' ? 'reapply' : 'none';
    const judged = subResource === undefined || (subResource === 'ephemeralcontainers' && operation === 'UPDATE');
    return judged ? { phase: webhook, path: [] } : 'none';
  }
  const path = templatePath(kind.group, kind.kind);
  if (!path || subResource !== undefined || hasController(object)) return 'none';
  const template = templateAt(object, path);
  const same = operation === 'UPDATE' && JSON.stringify(template) === JSON.stringify(templateAt(oldObject, path));
  return template === undefined || same ? 'none' : { phase: 'template', path };
}

/** Labels are looked at when they are written: a mistake is a warning at `kubectl label`, never a refusal. */
function judgeNamespace(object: unknown): Judgement {
  const labels = asObject(asObject(asObject(object)?.metadata)?.labels) ?? {};
  const { problems, warnings } = readLabels(labels as Readonly<Record<string, string>>);
  const findings = [...problems, ...warnings];
  const lines = findings.map(({ code, where, value, message, fix }) =>
    warningLine(`${code} ${where} is "${value ?? ''}", which ${message}. ${fix}`),
  );
  return {
    ...UNTOUCHED,
    answer: { ...UNTOUCHED.answer, warnings: lines },
    findings: findings.map(({ code }) => ({ code, severity: 'warning' })),
  };
}

function judgementOf(
  decision: Decision,
  policy: EffectivePolicy,
  subject: Subject,
  object: unknown,
  path: readonly string[],
): Judgement {
  const { allowed, denials, findings, changes, announced } = decision;
  const denial = allowed
    ? {}
    : {
        code: 403,
        reason: 'Forbidden',
        message: denialText(subject, policy, denials),
        causes: denials.map((finding) => ({
          reason: finding.code,
          message: findingText(finding),
          field: finding.field,
        })),
      };
  return {
    answer: {
      allowed,
      ...denial,
      warnings: warningLines(decision),
      ...(changes.length > 0 ? { patch: patchOf(object, changes, path) } : {}),
      auditAnnotations: auditOf(decision, policy),
    },
    mode: policy.governed ? policy.mode : 'none',
    policy: policy.name ?? '',
    findings,
    changes: changes.length > 0 ? changes : announced,
  };
}

/** One key a code, with a value that is the same in every round: the API server refuses a second, different value. */
function auditOf({ denials, findings, changes, announced }: Decision, policy: EffectivePolicy): Record<string, string> {
  const audit: Record<string, string> = policy.name === undefined ? {} : { policy: policy.name };
  const tell = (items: Iterable<{ readonly code: Code }>, what: string) => {
    for (const { code } of items) audit[code] ??= what;
  };
  tell(denials, 'denied');
  tell(changes, 'changed');
  tell(announced, 'would change');
  tell(findings, 'found');
  return audit;
}

function subjectOf({ kind, name, namespace, object }: AdmissionRequest): Subject {
  const { generateName } = asObject(asObject(object)?.metadata) ?? {};
  const named = name || (typeof generateName === 'string' ? generateName : '');
  return { kind: kind.kind === 'Pod' ? 'pod' : kind.kind, name: named, namespace: namespace ?? '' };
}

/** The effective policy of a namespace, kept as long as neither its labels nor the policies have changed. */
function cachedPolicies(policies: {
  current(): PolicySet;
}): (labels: Readonly<Record<string, string>>) => EffectivePolicy {
  const cache = new WeakMap<object, { readonly set: PolicySet; readonly policy: EffectivePolicy }>();
  return (labels) => {
    const set = policies.current();
    const kept = cache.get(labels);
    if (kept?.set === set) return kept.policy;
    const policy = resolvePolicy(labels, set);
    cache.set(labels, { set, policy });
    return policy;
  };
}

/** A final pod whose policy can't be read is not let by: the mutating call may have missed it for the same reason. */
function unread(namespace: string, reason: string): Judgement {
  const message = `gpugate: the labels of namespace ${namespace} can't be read (${reason}), so its GPU policy is not known; try again`;
  return {
    ...UNTOUCHED,
    answer: { ...UNTOUCHED.answer, allowed: false, code: 503, reason: 'ServiceUnavailable', message },
  };
}

function withWarning(judgement: Judgement, namespace: string): Judgement {
  const text = warningLine(`gpugate: the labels of namespace ${namespace} can't be read; no policy was applied`);
  return { ...judgement, answer: { ...judgement.answer, warnings: [...judgement.answer.warnings, text] } };
}
