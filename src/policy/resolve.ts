import { type LabelSettings, readLabels } from './labels.ts';
import { unlocked } from './locked.ts';
import type {
  CapAmount,
  EffectivePolicy,
  Framework,
  MemoryCapPolicy,
  MigPolicy,
  NodeRequirement,
  PolicyProblem,
  SharedPolicy,
  Sharing,
  Toleration,
} from './policy.ts';
import { NO_POLICY } from './policy.ts';
import { gpuResource, WHOLE_GPU } from './resources.ts';
import type { GpuPolicy } from './schema.ts';
import { type BrokenPolicy, isBroken } from './stored.ts';

/** All GpuPolicy documents that are known, by name. */
export type PolicySet = ReadonlyMap<string, GpuPolicy | BrokenPolicy>;

/** Serves the namespaces that name no policy. */
export const DEFAULT_POLICY = 'default';
const DEFAULT_FRAMEWORKS: readonly Framework[] = ['nvidia', 'jax', 'tensorflow', 'cupy', 'paddle'];
/** Kept free beside an `auto` cap, for the CUDA context that no framework counts. */
const DEFAULT_RESERVE_MIB = 512;

/**
 * The effective policy of a namespace: its labels over the policy they name, over the policy called `default`, over the
 * built-in defaults. Problems are carried in the result, never thrown.
 */
export function resolvePolicy(labels: Readonly<Record<string, string>>, policies: PolicySet): EffectivePolicy {
  const read = readLabels(labels);
  const stored = policies.get(read.settings.policy ?? DEFAULT_POLICY);
  const broken = stored && isBroken(stored) ? stored : undefined;
  const document = stored && !isBroken(stored) ? stored : undefined;
  const { settings, problems: labelProblems, warnings } = document ? unlocked(labels, read, document) : read;
  const problems: PolicyProblem[] = [...labelProblems];
  if (settings.policy !== undefined && !stored) problems.push(unknownPolicy(settings.policy, policies));
  if (broken) problems.push(...notUnderstood(broken));
  const { policy: _, ...labelled } = settings;
  if (!document && Object.keys(labelled).length === 0 && problems.length === 0) return { ...NO_POLICY, warnings };

  const spec = document?.spec;
  const impliesMig = settings.profile !== undefined && !spec?.sharing && !spec?.locked.includes('sharing');
  const sharing = settings.sharing ?? (impliesMig ? 'mig' : spec?.sharing);
  const mig = sharing === 'mig' ? migPolicy(settings, spec) : undefined;
  if (sharing === 'mig' && !mig && problems.length === 0) problems.push(PROFILE_MISSING);
  const shared = sharing === 'time-slicing' || sharing === 'mps' ? sharedPolicy(sharing, spec) : undefined;
  const ownGpus = sharing === 'mig' || sharing === 'exclusive';
  const memoryCap = ownGpus ? undefined : memoryCapPolicy(settings, spec);
  const perPod = settings.maxGpus ?? spec?.maxGpus.perPod;
  const visibleDevices = settings.visibleDevices ?? spec?.visibleDevices ?? 'ignore';
  if (visibleDevices === 'void' && settings.visibleDevices === undefined) warnings.push(VOID_WITHOUT_LABEL);
  if (settings.profile !== undefined && sharing !== 'mig')
    warnings.push(withoutEffect('mig-profile', settings.profile, sharing));
  if (settings.memoryCap && ownGpus) warnings.push(withoutEffect('memory-cap', textOf(settings.memoryCap), sharing));

  return {
    ...(stored ? { name: stored.metadata.name } : {}),
    governed: true,
    mode: settings.mode ?? spec?.mode ?? broken?.mode ?? 'enforce',
    ...(sharing ? { sharing } : {}),
    ...(mig ? { mig } : {}),
    ...(shared ? { shared } : {}),
    ...(memoryCap ? { memoryCap } : {}),
    nodes: nodeRequirements(sharing, mig, spec),
    tolerations: (spec?.tolerations ?? []).map(definedOnly),
    ...(spec?.runtimeClassName === undefined ? {} : { runtimeClassName: spec.runtimeClassName }),
    otherSchedulers: spec?.otherSchedulers ?? [],
    maxGpus: {
      ...(spec?.maxGpus.perContainer !== undefined ? { perContainer: spec.maxGpus.perContainer } : {}),
      ...(perPod !== undefined ? { perPod } : {}),
    },
    visibleDevices,
    everyPodComes: settings.visibleDevices === 'void',
    nodesOnDemand: spec?.nodesOnDemand ?? false,
    templates: spec?.templates ?? 'warn',
    problems,
    warnings,
  };
}

/** A label that is understood and can do nothing here: most likely the other label is the mistake. */
function withoutEffect(label: string, value: string, sharing: Sharing | undefined): PolicyProblem {
  const message = `has no effect, since sharing is ${sharing ?? 'not set'}`;
  return {
    code: 'GPU101',
    where: `namespace label gpugate.dev/${label}`,
    value,
    message,
    fix: 'Remove it, or set gpugate.dev/sharing.',
  };
}

function textOf(amount: CapAmount): string {
  return 'text' in amount ? amount.text : amount.kind;
}

function unknownPolicy(name: string, policies: PolicySet): PolicyProblem {
  const names = [...policies.keys()].sort().join(', ');
  return {
    code: 'GPU101',
    where: 'namespace label gpugate.dev/policy',
    value: name,
    message: 'names no GpuPolicy that is known',
    fix: names === '' ? 'No policy is loaded.' : `Known are ${names}.`,
  };
}

function notUnderstood({ metadata: { name }, problems }: BrokenPolicy): readonly PolicyProblem[] {
  return problems.map(({ code, field, message }) => ({
    code,
    where: `policy "${name}" ${field}`,
    message,
    fix: `Correct it: kubectl edit gpupolicy ${name}.`,
  }));
}

const PROFILE_MISSING: PolicyProblem = {
  code: 'GPU101',
  where: 'namespace label gpugate.dev/sharing',
  value: 'mig',
  message: 'needs a MIG profile, and none is given',
  fix: 'Set the label gpugate.dev/mig-profile, or name a policy that has mig.profile.',
};

const VOID_WITHOUT_LABEL: PolicyProblem = {
  code: 'GPU101',
  where: 'policy field visibleDevices',
  value: 'void',
  message:
    'reaches only pods that ask for a GPU or set a GPU variable, since the namespace has no label gpugate.dev/visible-devices=void',
  fix: 'Set that label on the namespace.',
};

function migPolicy(settings: LabelSettings, spec: GpuPolicy['spec'] | undefined): MigPolicy | undefined {
  const profile = settings.profile ?? spec?.mig?.profile;
  if (profile === undefined) return undefined;
  const allowed = new Set([profile, ...(spec?.mig?.allowedProfiles ?? [])]);
  const { multiple = 'deny', exposure, nodeLabels, products = [] } = spec?.mig ?? {};
  const selector = exposure === 'selector' && nodeLabels ? { nodeLabels } : {};
  return { profile, allowedProfiles: [...allowed], multiple, products, ...selector };
}

const STRATEGY = 'nvidia.com/gpu.sharing-strategy';
const PRODUCT = 'nvidia.com/gpu.product';

/** `NotIn` is safe where the label is absent: nodes without feature discovery count as exclusive. */
function nodeRequirements(
  sharing: Sharing | undefined,
  mig: MigPolicy | undefined,
  spec: GpuPolicy['spec'] | undefined,
): readonly NodeRequirement[] {
  const block = sharing === 'mps' ? spec?.mps : sharing === 'time-slicing' ? spec?.timeSlicing : undefined;
  const products = mig?.products ?? block?.products ?? (sharing === 'exclusive' ? spec?.exclusive?.products : []) ?? [];
  const requirements: NodeRequirement[] = [];
  if (sharing === 'exclusive') requirements.push({ key: STRATEGY, operator: 'NotIn', values: ['time-slicing', 'mps'] });
  if (sharing && block?.requireSharedNode)
    requirements.push({ key: strategyLabel(block.resource), operator: 'In', values: [sharing] });
  if (products.length > 0) {
    requirements.push({
      key: PRODUCT,
      operator: 'In',
      values: products.flatMap((product) => labelledProducts(product, mig)),
    });
  }
  return requirements;
}

/** A node of MIG slices says under their own name how they are shared; its GPUs themselves are not (internal/lm/resource.go). */
function strategyLabel(resource = WHOLE_GPU): string {
  const profile = gpuResource(resource)?.profile;
  return profile === undefined ? STRATEGY : `nvidia.com/mig-${profile}.sharing-strategy`;
}

/** Feature discovery adds to the product: `-SHARED` for shares that keep the name, `-MIG-<profile>` under the single strategy. */
function labelledProducts(product: string, mig: MigPolicy | undefined): readonly string[] {
  const slices = mig?.nodeLabels ? mig.allowedProfiles.map((profile) => `${product}-MIG-${profile}`) : [];
  return [product, `${product}-SHARED`, ...slices];
}

function definedOnly({ key, operator, value, effect }: GpuPolicy['spec']['tolerations'][number]): Toleration {
  return { key, operator, ...(value === undefined ? {} : { value }), ...(effect === undefined ? {} : { effect }) };
}

/** The plugin itself refuses several units under MPS, and accepts them under time-slicing (failRequestsGreaterThanOne). */
function sharedPolicy(sharing: Sharing, spec: GpuPolicy['spec'] | undefined): SharedPolicy {
  const block = sharing === 'mps' ? spec?.mps : spec?.timeSlicing;
  return {
    resource: block?.resource ?? WHOLE_GPU,
    multiple: block?.multiple ?? (sharing === 'mps' ? 'deny' : 'warn'),
  };
}

function atMost(mib: number): CapAmount {
  return { kind: 'mib', mib, text: `${mib}Mi` };
}

function memoryCapPolicy(settings: LabelSettings, spec: GpuPolicy['spec'] | undefined): MemoryCapPolicy | undefined {
  const cap = spec?.memoryCap;
  const wanted = settings.memoryCap ?? cap?.amount;
  if (!wanted) return undefined;
  const amount = wanted.kind === 'mib' && cap?.max !== undefined && wanted.mib > cap.max ? atMost(cap.max) : wanted;
  return {
    amount,
    ...(cap?.max !== undefined ? { maxMiB: cap.max } : {}),
    reserveMiB: cap?.reserve ?? DEFAULT_RESERVE_MIB,
    ...(cap?.fallback !== undefined ? { fallbackMiB: cap.fallback } : {}),
    frameworks: cap?.frameworks ?? DEFAULT_FRAMEWORKS,
  };
}
