import { decide, type Phase } from '../admission/decide.ts';
import { evaluate } from '../admission/evaluate.ts';
import { patchOf } from '../admission/patch.ts';
import { asObject } from '../admission/pod.ts';
import { reapply } from '../admission/reapply.ts';
import type { AdmissionRequest } from '../admission/review.ts';
import type { Snapshot } from '../admission/snapshot.ts';
import { type TemplateKind, type TemplateKinds, withTemplateKinds } from '../admission/template-kinds.ts';
import { hasController, newTemplates } from '../admission/templates.ts';
import { annotationsAdded } from '../admission/ways/added-annotations.ts';
import { decideWorkload } from '../admission/workload.ts';
import type { ClusterSource } from '../cluster/source.ts';
import { policyNameOf } from '../policy/census.ts';
import type { PolicySource } from '../policy/files.ts';
import type { EffectivePolicy } from '../policy/policy.ts';
import { NO_POLICY, renamesGpus } from '../policy/policy.ts';
import { DEFAULT_POLICY, type PolicySet, resolvePolicy } from '../policy/resolve.ts';
import { waitForFirstLists } from './first-lists.ts';
import { judgeSettings, type Settings } from './judge-settings.ts';
import { type Judgement, judgementOf, UNTOUCHED, unread, withWarning } from './judgement.ts';

export type { Judgement };

export type Webhook = 'mutate' | 'validate';
export type Judge = (webhook: Webhook, request: AdmissionRequest) => Promise<Judgement>;

export interface JudgeOptions {
  readonly cluster: ClusterSource;
  readonly policies: Pick<PolicySource, 'current' | 'fromFiles' | 'synced' | 'refresh'>;
  /** Which namespaces each policy serves; asked when one is deleted. */
  readonly census?: NonNullable<Settings['census']>;
  /** Resources that count as GPUs beside the catalogue. */
  readonly gpuResources?: readonly string[];
  /** Kinds that hold pod templates; those of the catalogue unless given. */
  readonly templateKinds?: TemplateKinds;
}

const MIRROR_POD = 'kubernetes.io/config.mirror';

/** Makes the judge: the one place where a request, the policy of its namespace and the cluster come together. */
export function createJudge(options: JudgeOptions): Judge {
  const { cluster, policies, gpuResources = [], templateKinds = withTemplateKinds() } = options;
  const policyOf = cachedPolicies(policies);
  const firstLists = waitForFirstLists(() => cluster.synced());

  return async (webhook, request) => {
    const { operation, object, oldObject } = request;
    const settings = judgeSettings(request, { policies, census: options.census });
    if (settings) return settings;
    if (operation !== 'CREATE' && operation !== 'UPDATE') return UNTOUCHED;

    const work = workOf(webhook, request, templateKinds);
    if (work === 'none') return UNTOUCHED;
    if (work === 'reapply') {
      const patch = reapply(object, oldObject, gpuResources);
      return { ...UNTOUCHED, answer: { ...UNTOUCHED.answer, patch } };
    }

    const namespace = request.namespace ?? '';
    const judgeBy = (policy: EffectivePolicy) =>
      judgeWork(webhook, request, work, policy, snapshotFor(policy, namespace));
    await firstLists();
    const known = cluster.known(namespace);
    if (!known || policies.synced?.() === false) return judgeUnseen(namespace, work.phase, judgeBy);
    const judgement = judgeBy(await policyFor(known));
    // Replicas, labels and policies move: before a final pod is refused for a missing change, both are read once more.
    const missed = work.phase === 'validate' && judgement.findings.some(({ code }) => code === 'GPU180');
    return missed ? judgeUnseen(namespace, work.phase, judgeBy, true) : judgement;
  };

  /** Quotas, limit ranges, DeviceClasses and RuntimeClasses are asked for only where a rule will look at them. */
  function snapshotFor(policy: EffectivePolicy, namespace: string): Snapshot {
    const { extras } = cluster;
    const base = { nodes: cluster.nodes(), gpuResources };
    if (!extras || !policy.governed) return base;
    const limits = renamesGpus(policy) ? extras.limits(namespace) : undefined;
    const runtimeClasses = policy.runtimeClassName === undefined ? undefined : extras.runtimeClasses();
    return { ...base, deviceClassResources: extras.deviceClassResources(), runtimeClasses, limits };
  }

  async function judgeUnseen(
    namespace: string,
    phase: Phase,
    judgeBy: (policy: EffectivePolicy) => Judgement,
    refresh = false,
  ): Promise<Judgement> {
    const lookup = await cluster.namespaceLabels(namespace, { refresh });
    if (lookup.found === false) return judgeBy(NO_POLICY);
    if (lookup.found === true && policies.synced?.() !== false) return judgeBy(await policyFor(lookup.labels, refresh));
    const reason = lookup.found === true ? 'GpuPolicies have not been read yet' : lookup.reason;
    return phase === 'validate' ? unread(namespace, reason) : withWarning(judgeBy(NO_POLICY), namespace);
  }

  /** A policy that is named and not known may have come a moment ago: it is read, as a new namespace is. */
  async function policyFor(labels: Readonly<Record<string, string>>, refresh = false): Promise<EffectivePolicy> {
    const name = policyNameOf(labels);
    const unknown = name !== DEFAULT_POLICY && !policies.current().has(name);
    if (refresh || unknown) await policies.refresh?.(name);
    return policyOf(labels);
  }
}

/** What a policy makes of the work. */
function judgeWork(
  webhook: Webhook,
  request: AdmissionRequest,
  { phase, kind, annotations }: JudgedWork,
  policy: EffectivePolicy,
  snapshot: Snapshot,
): Judgement {
  const { subResource, object, oldObject } = request;
  if (annotations)
    return judgementOf(decide(annotationsAdded(object, oldObject, policy), policy, phase, true), policy, request);
  if (kind) {
    const change = { kind, object, oldObject };
    const { decision, patch, preview } = decideWorkload(webhook, change, policy, snapshot);
    return judgementOf(decision, policy, request, patch, preview);
  }
  const added = subResource === 'ephemeralcontainers';
  const pod = { pod: object, path: [], kind: request.kind.kind, object };
  const verdict = evaluate(added ? { ...pod, before: oldObject } : pod, policy, snapshot);
  const decision = decide(verdict, policy, phase, phase !== 'validate' || added);
  const preview = () => ({ denials: [], patch: patchOf(object, decision.announced, []) });
  return judgementOf(decision, policy, request, patchOf(object, decision.changes, []), preview);
}

interface JudgedWork {
  readonly phase: Phase;
  /** Of a workload: where its pod templates are. */
  readonly kind?: TemplateKind;
  /** Only annotations that are added to a pod. */
  readonly annotations?: boolean;
}

type Work = 'none' | 'reapply' | JudgedWork;

/**
 * What a request is to gpugate: a new pod, containers or annotations added to one, a manifest applied again, a template, or
 * nothing. No label of the object is read, since its author sets those.
 */
function workOf(webhook: Webhook, request: AdmissionRequest, kinds: TemplateKinds): Work {
  const { kind, operation, subResource, object, oldObject } = request;
  if (kind.group === '' && kind.kind === 'Pod') {
    // Mirror pods stand for static pods; refusing them would stop nothing. The kubelet runs none that it did not make.
    if (MIRROR_POD in (asObject(asObject(asObject(object)?.metadata)?.annotations) ?? {})) return 'none';
    if (subResource === undefined && operation === 'UPDATE') {
      return webhook === 'mutate' ? 'reapply' : { phase: webhook, annotations: true };
    }
    const judged = subResource === undefined || (subResource === 'ephemeralcontainers' && operation === 'UPDATE');
    return judged ? { phase: webhook } : 'none';
  }
  const known = kinds.get(`${kind.group}/${kind.kind}`);
  if (!known || subResource !== undefined || hasController(object)) return 'none';
  const phase = webhook === 'mutate' ? 'template-mutate' : 'template';
  return newTemplates(object, oldObject, known).length > 0 ? { phase, kind: known } : 'none';
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
