import { capAmount, SMALLEST_CAP_MIB } from '../policy/amount.ts';
import type { CapAmount, MemoryCapPolicy } from '../policy/policy.ts';
import { gpuResource } from '../policy/resources.ts';
import { type Context, finalResource } from './context.ts';
import type { Code, Finding, Severity } from './findings.ts';
import { type ContainerView, fieldPath, type GpuAsk, type PodView, unitsAsked } from './pod.ts';
import { annotation, CAP_WISH } from './profile.ts';
import { droppedBesideRename } from './rename.ts';
import { quoted } from './rules/each.ts';
import { reachableSharedGpus, type SharedGpu } from './shares.ts';

/** What one unit of a shared GPU may use, in the two measures that frameworks take. */
export interface CapSize {
  readonly mib?: number;
  /** Of the whole GPU's memory, in thousandths, rounded down. */
  readonly thousandths?: number;
}

export interface MemoryCap extends CapSize {
  /** Where the amount comes from: `auto: 16384Mi / 4 - 512Mi, Tesla-T4-SHARED`. */
  readonly basis: string;
  /** Validation refuses only values above this; without a figure it refuses none. */
  readonly ceiling: CapSize;
  readonly findings: readonly Finding[];
}

/** The containers that get caps: those that end up with at least one NVIDIA GPU which is no MIG slice. */
export function cappedContainers(context: Context): readonly ContainerView[] {
  return context.containers.filter((container) => cappedResources(context, container).length > 0);
}

function cappedResources(context: Context, container: ContainerView): readonly string[] {
  return cappedAsks(context, container).map((ask) => finalResource(context, ask));
}

/** How many GPUs the container may see, for variables that list devices. At most 64: no machine has more. */
export function cappedUnits(context: Context, container: ContainerView): number {
  const units = cappedAsks(context, container).reduce((sum, ask) => sum + (unitsAsked(ask) ?? 0n), 0n);
  return Number(units < 64n ? units : 64n);
}

function cappedAsks(context: Context, container: ContainerView): readonly GpuAsk[] {
  return container.gpus
    .filter((ask) => ask.resource.vendor === 'nvidia.com' && gpuResource(finalResource(context, ask))?.kind !== 'mig')
    .filter((ask) => unitsAsked(ask) && !droppedBesideRename(context, container, ask));
}

/** The pod's memory cap, computed once. Without `mib` and `thousandths` there is none; findings say why. */
export function memoryCap(context: Context): MemoryCap {
  const { policy, pod } = context;
  const capped = context.capped();
  if (!policy.memoryCap || capped.length === 0) return none();
  const resources = new Set(capped.flatMap((container) => cappedResources(context, container)));
  const gpus = reachableSharedGpus(context, resources);
  const bounds: Bounds = { ...policy.memoryCap, field: fieldPath([...pod.path, 'spec']) };
  const own = sized(bounds.amount, bounds, gpus);
  const wish = pod.annotations.get(CAP_WISH);
  return wish === undefined ? own : wished(pod, wish, own, bounds, gpus);
}

function none(findings: readonly Finding[] = []): MemoryCap {
  return { basis: '', ceiling: {}, findings };
}

/** A pod may lower its cap, and raise it up to the policy's maximum; without a maximum, up to the policy's amount. */
function wished(pod: PodView, text: string, own: MemoryCap, policy: Bounds, gpus: readonly SharedGpu[]): MemoryCap {
  const ownStays = (code: Code, severity: Severity, message: string, fix: string): MemoryCap => {
    const finding = annotation(pod, code, severity, CAP_WISH, text, message, fix);
    return { ...own, findings: [...own.findings, finding] };
  };
  const amount = capAmount(text);
  if (typeof amount === 'string') {
    const fix = 'Write auto, a quantity such as 4Gi, or a percentage such as 25%.';
    return ownStays('GPU101', 'error', `is ${quoted(text)}, which ${amount}`, fix);
  }
  if (amount.kind === policy.amount.kind && (amount.kind === 'auto' || amount.kind === 'off')) return own;
  const bound = policy.maxMiB ?? own.mib;
  const most = bound !== undefined ? memoryText(bound) : own.thousandths ? `${own.thousandths / 10}%` : undefined;
  if (amount.kind === 'off') {
    const fix = most === undefined ? 'Remove the annotation.' : `Remove the annotation, or ask for at most ${most}.`;
    return ownStays('GPU142', 'error', `is ${text}, which means no cap`, fix);
  }
  const bounded = sized(amount, { ...policy, maxMiB: bound }, gpus);
  const wanted = amount.kind === 'auto' ? bounded : sized(amount, { ...policy, maxMiB: undefined }, gpus);
  const kept = hasSize(own) ? " The policy's own cap is used." : '';
  if (!hasSize(wanted)) {
    const message = `is ${text}, which gives no cap: the GPUs are not known, or their share is under ${SMALLEST_CAP_MIB}Mi`;
    return ownStays('GPU143', 'warning', message, `Write a quantity such as 4Gi.${kept}`);
  }
  if (wanted.mib !== undefined && bound !== undefined) {
    if (wanted.mib <= bound) return withOwnFraction(bounded, own);
  } else if (wanted.thousandths !== undefined && own.thousandths !== undefined && bound === undefined) {
    if (wanted.thousandths <= own.thousandths) return bounded;
  } else if (bound === undefined && !hasSize(own)) {
    return bounded;
  } else {
    const message = `is ${text}, which can't be compared with the policy's amount: the memory of the GPUs is not known`;
    return ownStays(
      'GPU143',
      'warning',
      message,
      `Write ${own.mib === undefined && bound === undefined ? 'a percentage such as 10%' : 'a quantity such as 4Gi'}.${kept}`,
    );
  }
  return ownStays('GPU142', 'error', `is ${text}, above the maximum of ${most}`, `Ask for at most ${most}.`);
}

function hasSize({ mib, thousandths }: CapSize): boolean {
  return mib !== undefined || thousandths !== undefined;
}

function memoryText(mib: number): string {
  return mib % 1024 === 0 ? `${mib / 1024}Gi` : `${mib}Mi`;
}

/** The policy's bounds, and the field that findings about the whole pod name. */
type Bounds = Omit<MemoryCapPolicy, 'maxMiB'> & { readonly maxMiB?: number | undefined; readonly field: string };

function sized(amount: CapAmount, policy: Bounds, gpus: readonly SharedGpu[]): MemoryCap {
  switch (amount.kind) {
    case 'off':
      return none();
    case 'mib':
      return ofQuantity(amount.mib, amount.text, policy, gpus);
    case 'percent':
      return ofPercentage(amount.milliPercent, amount.text, policy, gpus);
    case 'auto':
      return gpus.length > 0 ? ofShares(policy, gpus) : ofFallback(policy);
  }
}

/** A quantity that has no fraction must not lift the one that the policy has: the policy's own stays. */
function withOwnFraction(wished: MemoryCap, { thousandths, ceiling, findings }: MemoryCap): MemoryCap {
  if (wished.thousandths !== undefined || thousandths === undefined) return wished;
  const highest = ceiling.thousandths ?? thousandths;
  return { ...wished, thousandths, ceiling: { ...wished.ceiling, thousandths: highest }, findings };
}

function ofQuantity(mib: number, text: string, policy: Bounds, gpus: readonly SharedGpu[]): MemoryCap {
  const totals = new Set(gpus.map((gpu) => gpu.totalMiB));
  const [total] = totals;
  const size = { mib, ...(totals.size === 1 && total ? { thousandths: fraction(mib, total) } : {}) };
  const findings = size.thousandths || !takesFractions(policy) ? [] : [withoutFraction(policy, text, gpus)];
  return { ...positive(size), basis: text, ceiling: positive(size), findings };
}

function ofPercentage(milliPercent: number, text: string, policy: Bounds, gpus: readonly SharedGpu[]): MemoryCap {
  const thousandths = Math.floor(milliPercent / 100);
  if (gpus.length === 0) {
    if (policy.maxMiB !== undefined) return ofFallback(policy, text);
    const finding = notComputable(
      policy.field,
      `${text} cannot be given in MiB: no node tells the memory of its GPUs`,
      'Only frameworks that take a fraction are capped; label the nodes (feature discovery), or give a quantity.',
    );
    return { thousandths, basis: text, ceiling: { thousandths }, findings: [finding] };
  }
  const smallest = Math.min(...gpus.map((gpu) => gpu.totalMiB));
  const share = (totalMiB: number) => Math.floor((totalMiB * milliPercent) / 100_000);
  const max = policy.maxMiB;
  const cut = gpus.flatMap(({ totalMiB }) =>
    max !== undefined && share(totalMiB) > max ? [fraction(max, totalMiB)] : [],
  );
  const size = positive({
    mib: Math.min(share(smallest), max ?? Number.POSITIVE_INFINITY),
    thousandths: Math.min(thousandths, ...cut),
  });
  if ((size.mib ?? 0) < SMALLEST_CAP_MIB) {
    const message = `${text} of ${smallest}Mi is under ${SMALLEST_CAP_MIB}Mi`;
    return none([notComputable(policy.field, message, 'No cap is set; use a larger percentage, or a quantity.')]);
  }
  return { ...size, basis: `${text} of ${smallest}Mi`, ceiling: size, findings: [] };
}

function ofShares(policy: Bounds, gpus: readonly SharedGpu[]): MemoryCap {
  const shares = gpus.map((gpu) => {
    const share = Math.floor(gpu.totalMiB / gpu.replicas) - policy.reserveMiB;
    return { gpu, mib: Math.min(share, policy.maxMiB ?? share) };
  });
  // Nodes come in any order, and the basis is written into the pod: the same in every round.
  const [first, ...others] = shares.sort(
    (a, b) =>
      a.mib - b.mib ||
      a.gpu.product.localeCompare(b.gpu.product) ||
      a.gpu.totalMiB - b.gpu.totalMiB ||
      a.gpu.replicas - b.gpu.replicas,
  );
  if (!first || first.mib < SMALLEST_CAP_MIB) {
    const { totalMiB, replicas, product } = first?.gpu ?? { totalMiB: 0, replicas: 0, product: '' };
    return none([
      notComputable(
        policy.field,
        `a share of ${product} is ${totalMiB}Mi / ${replicas} - ${policy.reserveMiB}Mi reserve, under ${SMALLEST_CAP_MIB}Mi`,
        'No cap is set; use fewer replicas, a smaller reserve, or an amount.',
      ),
    ]);
  }
  const thousandths = Math.min(...shares.map(({ gpu, mib }) => fraction(mib, gpu.totalMiB)));
  const differ = others.some(({ mib }) => mib !== first.mib);
  const largest = {
    mib: policy.maxMiB ?? Math.max(...shares.map(({ mib }) => mib), policy.fallbackMiB ?? 0),
    thousandths: Math.max(...shares.map(({ gpu, mib }) => fraction(policy.maxMiB ?? mib, gpu.totalMiB))),
  };
  const basis = `auto: ${first.gpu.totalMiB}Mi / ${first.gpu.replicas} - ${policy.reserveMiB}Mi, ${first.gpu.product}`;
  const findings = differ
    ? [
        notComputable(
          policy.field,
          `shares of the GPUs that the pod can reach differ (${products(gpus)}); the smallest is used`,
          'Pin the product with a node selector to get its whole share.',
        ),
      ]
    : [];
  return { ...positive({ mib: first.mib, thousandths }), basis, ceiling: largest, findings };
}

/** No node is known yet: the fallback, in MiB only. A value that an earlier round computed from a node is not refused. */
function ofFallback(policy: Bounds, wanted = 'auto'): MemoryCap {
  if (policy.fallbackMiB === undefined) {
    return none([
      notComputable(
        policy.field,
        `${wanted} cannot be computed: no node that the pod can reach has the labels gpu.memory, gpu.replicas and gpu.sharing-strategy`,
        'No cap is set; set memoryCap.fallback in the policy, or an amount.',
      ),
    ]);
  }
  const mib = Math.min(policy.fallbackMiB, policy.maxMiB ?? policy.fallbackMiB);
  return {
    mib,
    basis: `fallback: ${mib}Mi`,
    ceiling: policy.maxMiB === undefined ? {} : { mib: policy.maxMiB },
    findings: takesFractions(policy) ? [withoutFraction(policy, `the fallback ${mib}Mi`, [])] : [],
  };
}

function withoutFraction(policy: Bounds, text: string, gpus: readonly SharedGpu[]): Finding {
  const why =
    gpus.length === 0
      ? 'no node tells the memory of its GPUs'
      : `GPUs that the pod can reach differ (${products(gpus)})`;
  return notComputable(
    policy.field,
    `${text} cannot be given as a fraction: ${why}`,
    'JAX and other frameworks that take a fraction are not capped; pin the product with a node selector.',
  );
}

function takesFractions(policy: Bounds): boolean {
  return policy.frameworks.some((name) => name === 'jax' || name === 'pytorch' || name === 'tgi');
}

function fraction(mib: number, totalMiB: number): number {
  return Math.min(1000, Math.floor((mib * 1000) / totalMiB));
}

/** A fraction that rounds to nothing is no cap. */
function positive(size: CapSize): CapSize {
  return { ...(size.mib ? { mib: size.mib } : {}), ...(size.thousandths ? { thousandths: size.thousandths } : {}) };
}

function products(gpus: readonly SharedGpu[]): string {
  const names = [...new Set(gpus.map((gpu) => `${gpu.product} ${gpu.totalMiB}Mi / ${gpu.replicas}`))].sort();
  return names.length > 3 ? `${names.slice(0, 3).join(', ')}, ...` : names.join(', ');
}

function notComputable(field: string, message: string, fix: string): Finding {
  return { code: 'GPU143', severity: 'warning', field, message: `memory cap: ${message}.`, fix };
}
