import { policyNameOf } from '../policy/census.ts';
import { readLabels } from '../policy/labels.ts';
import { unlocked } from '../policy/locked.ts';
import type { EffectivePolicy, PolicyProblem } from '../policy/policy.ts';
import { DEFAULT_POLICY, type PolicySet, resolvePolicy } from '../policy/resolve.ts';
import type { GpuPolicy } from '../policy/schema.ts';
import { isBroken } from '../policy/stored.ts';

/** Where a setting comes from: a label of the namespace, a field of its policy, or nothing said otherwise. */
export interface Setting {
  readonly name: string;
  readonly value: string;
  readonly source: string;
}

/** Which policy applies to a namespace, and what its settings come to. */
export interface NamespaceExplanation {
  readonly namespace: string;
  /** False: its GPU pods are judged by arithmetic alone. */
  readonly governed: boolean;
  /** Name of the GpuPolicy, and why it is that one. */
  readonly policy?: string;
  readonly chosenBy: string;
  /** The API server sends no pod of this namespace, whatever its labels say. */
  readonly excluded: boolean;
  readonly settings: readonly Setting[];
  readonly problems: readonly PolicyProblem[];
  readonly warnings: readonly PolicyProblem[];
}

const POLICY_LABEL = 'gpugate.dev/policy';

type Labels = Readonly<Record<string, string>>;

/** Pure. `excluded` are the namespaces that the webhook configurations leave out. */
export function explainNamespace(
  namespace: string,
  labels: Labels,
  policies: PolicySet,
  excluded: readonly string[],
): NamespaceExplanation {
  const effective = resolvePolicy(labels, policies);
  const name = policyNameOf(labels);
  const stored = policies.get(name);
  const document = stored && !isBroken(stored) ? stored : undefined;
  const chosenBy = labels[POLICY_LABEL]
    ? `namespace label ${POLICY_LABEL}=${name}`
    : stored
      ? `no label ${POLICY_LABEL}, so the policy called ${DEFAULT_POLICY} applies`
      : effective.governed
        ? `no label ${POLICY_LABEL} and no policy called ${DEFAULT_POLICY}; other gpugate.dev/ labels govern it`
        : `no label ${POLICY_LABEL}, and no policy called ${DEFAULT_POLICY}`;
  return {
    namespace,
    governed: effective.governed,
    ...(stored ? { policy: name } : {}),
    chosenBy,
    excluded: excluded.includes(namespace),
    settings: effective.governed ? settingsOf(labels, effective, document) : [],
    problems: effective.problems,
    warnings: effective.warnings,
  };
}

function settingsOf(labels: Labels, policy: EffectivePolicy, document: GpuPolicy | undefined): readonly Setting[] {
  const read = document ? unlocked(labels, readLabels(labels), document) : readLabels(labels);
  const { settings } = read;
  const spec = document?.spec;
  const of = document ? `policy "${document.metadata.name}"` : '';
  /** The label, where it counts; else the field of the policy, where it stands; else the default. */
  const from = (label: boolean, labelName: string, field: boolean, fieldName: string): string =>
    label ? `namespace label gpugate.dev/${labelName}` : field ? `${of} spec.${fieldName}` : 'default';
  const { mig, shared, memoryCap, maxGpus } = policy;
  const found: Setting[] = [];
  const add = (name: string, value: string | undefined, source: string) => {
    if (value !== undefined) found.push({ name, value, source });
  };
  add('mode', policy.mode, from(settings.mode !== undefined, 'mode', spec !== undefined, 'mode'));
  const implied = settings.sharing === undefined && spec?.sharing === undefined && policy.sharing === 'mig';
  const sharing = from(settings.sharing !== undefined, 'sharing', spec?.sharing !== undefined, 'sharing');
  add('sharing', policy.sharing, implied ? 'namespace label gpugate.dev/mig-profile' : sharing);
  if (mig) {
    add('migProfile', mig.profile, from(settings.profile !== undefined, 'mig-profile', true, 'mig.profile'));
    const allowed = spec?.mig?.allowedProfiles !== undefined;
    add('allowedProfiles', mig.allowedProfiles.join(', '), from(false, '', allowed, 'mig.allowedProfiles'));
    add('exposure', mig.nodeLabels ? 'selector' : 'resource', from(false, '', spec?.mig !== undefined, 'mig.exposure'));
    add('multiple', mig.multiple, from(false, '', spec?.mig !== undefined, 'mig.multiple'));
  }
  if (shared) {
    const block = policy.sharing === 'mps' ? 'mps' : 'timeSlicing';
    const own = policy.sharing === 'mps' ? spec?.mps : spec?.timeSlicing;
    add('resource', shared.resource, from(false, '', own?.resource !== undefined, `${block}.resource`));
    add('multiple', shared.multiple, from(false, '', own?.multiple !== undefined, `${block}.multiple`));
  }
  if (memoryCap) {
    const { amount, maxMiB, reserveMiB, frameworks } = memoryCap;
    const text = 'text' in amount ? amount.text : amount.kind;
    add('memoryCap', text, from(settings.memoryCap !== undefined, 'memory-cap', true, 'memoryCap.amount'));
    if (maxMiB !== undefined) add('memoryCap.max', `${maxMiB}Mi`, from(false, '', true, 'memoryCap.max'));
    const reserve = spec?.memoryCap?.reserve !== undefined;
    if (amount.kind === 'auto') add('reserve', `${reserveMiB}Mi`, from(false, '', reserve, 'memoryCap.reserve'));
    const named = spec?.memoryCap?.frameworks !== undefined;
    add('frameworks', frameworks.join(', '), from(false, '', named, 'memoryCap.frameworks'));
  }
  const perPod = maxGpus.perPod === undefined ? undefined : String(maxGpus.perPod);
  add('maxGpus.perPod', perPod, from(settings.maxGpus !== undefined, 'max-gpus', true, 'maxGpus.perPod'));
  const perContainer = maxGpus.perContainer === undefined ? undefined : String(maxGpus.perContainer);
  add('maxGpus.perContainer', perContainer, from(false, '', true, 'maxGpus.perContainer'));
  const visible = from(settings.visibleDevices !== undefined, 'visible-devices', spec !== undefined, 'visibleDevices');
  add('visibleDevices', policy.visibleDevices, visible);
  for (const { key, operator, values } of policy.nodes) {
    add('nodes', `${key} ${operator} ${values.join(', ')}`, of === '' ? 'sharing' : of);
  }
  for (const { key, operator, value, effect } of policy.tolerations) {
    const text = `${key}${operator === 'Equal' ? `=${value ?? ''}` : ''}${effect ? `:${effect}` : ''}`;
    add('toleration', text, `${of} spec.tolerations`);
  }
  add('runtimeClassName', policy.runtimeClassName, `${of} spec.runtimeClassName`);
  if (policy.otherSchedulers.length > 0) {
    add('otherSchedulers', policy.otherSchedulers.join(', '), `${of} spec.otherSchedulers`);
  }
  add('templates', policy.templates, from(false, '', spec !== undefined, 'templates'));
  return found;
}
