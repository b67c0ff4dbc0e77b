import { capAmount, SMALLEST_CAP_MIB } from '../policy/amount.ts';
import type { CapAmount, MemoryCapPolicy } from '../policy/policy.ts';
import { type Context, finalResource } from './context.ts';
import type { Finding } from './findings.ts';
import { type ContainerView, unitsAsked } from './pod.ts';
import { annotation } from './profile.ts';
import { reachableSharedGpus, type SharedGpu } from './shares.ts';

const WISH = 'gpugate.dev/memory-cap';

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
  return container.gpus
    .filter(({ resource }) => resource.vendor === 'nvidia.com' && resource.kind !== 'mig')
    .filter((ask) => unitsAsked(ask))
    .map((ask) => finalResource(context, ask));
}

/** How many GPUs the container may see, for variables that list devices. At most 64: no machine has more. */
export function cappedUnits(container: ContainerView): number {
  const units = container.gpus
    .filter(({ resource }) => resource.vendor === 'nvidia.com' && resource.kind !== 'mig')
    .reduce((sum, ask) => sum + (unitsAsked(ask) ?? 0n), 0n);
  return Number(units < 64n ? units : 64n);
}

/** The pod's memory cap, computed once. Without `mib` and `thousandths` there is none; findings say why. */
export function memoryCap(context: Context): MemoryCap {
  const { policy } = context;
  const capped = cappedContainers(context);
  if (!policy.memoryCap || capped.length === 0) return none();
  const resources = new Set(capped.flatMap((container) => cappedResources(context, container)));
  const gpus = reachableSharedGpus(context.pod, policy, context.snapshot, resources);
  const own = sized(policy.memoryCap.amount, policy.memoryCap, gpus);
  const wish = context.pod.annotations.get(WISH);
  return wish === undefined ? own : wished(wish, own, policy.memoryCap, gpus);
}

function none(findings: readonly Finding[] = []): MemoryCap {
  return { basis: '', ceiling: {}, findings };
}

/** A pod may lower its cap, and raise it up to the policy's maximum; without a maximum, up to the policy's amount. */
function wished(text: string, own: MemoryCap, policy: MemoryCapPolicy, gpus: readonly SharedGpu[]): MemoryCap {
  const amount = capAmount(text);
  if (typeof amount === 'string') {
    const fix = 'Write auto, a quantity such as 4Gi, or a percentage such as 25%.';
    return { ...own, findings: [annotation('GPU101', 'error', WISH, text, `is ${text}, which ${amount}`, fix)] };
  }
  if (amount.kind === 'auto' && policy.amount.kind === 'auto') return own;
  const bound = policy.maxMiB ?? own.mib;
  if (amount.kind === 'auto')
    return sized(amount, { ...policy, ...(bound === undefined ? {} : { maxMiB: bound }) }, gpus);
  if (own.mib === undefined && own.thousandths === undefined && policy.amount.kind === 'off' && amount.kind !== 'off') {
    return sized(amount, policy, gpus);
  }
  const wanted = amount.kind === 'off' ? undefined : sized(amount, { ...policy, maxMiB: undefined }, gpus);
  if (wanted && comparable(wanted, bound, own)) {
    const tooMuch = bound !== undefined && wanted.mib !== undefined ? wanted.mib > bound : exceeds(wanted, own);
    if (!tooMuch) return wanted;
  } else if (wanted) {
    const message = `is ${text}, which can't be compared with the policy's amount: the memory of the GPUs is not known`;
    const fix = "Write a quantity such as 4Gi; the policy's own cap is used.";
    return { ...own, findings: [...own.findings, annotation('GPU143', 'warning', WISH, text, message, fix)] };
  }
  const limit = bound === undefined ? 'the cap of the policy' : `${bound}Mi`;
  const message =
    amount.kind === 'off' ? `is ${text}, which means no cap` : `is ${text}, above the maximum of ${limit}`;
  return { ...own, findings: [annotation('GPU142', 'error', WISH, text, message, `Ask for at most ${limit}.`)] };
}

function comparable(wanted: CapSize, bound: number | undefined, own: CapSize): boolean {
  if (wanted.mib !== undefined && bound !== undefined) return true;
  return wanted.thousandths !== undefined && own.thousandths !== undefined && bound === own.mib;
}

function exceeds(wanted: CapSize, own: CapSize): boolean {
  return (wanted.thousandths ?? 0) > (own.thousandths ?? 0);
}

type Bounds = Omit<MemoryCapPolicy, 'maxMiB' | 'amount'> & { readonly maxMiB?: number | undefined };

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

function ofQuantity(mib: number, text: string, policy: Bounds, gpus: readonly SharedGpu[]): MemoryCap {
  const totals = new Set(gpus.map((gpu) => gpu.totalMiB));
  const [total] = totals;
  const size = { mib, ...(totals.size === 1 && total ? { thousandths: fraction(mib, total) } : {}) };
  const findings =
    size.thousandths || !takesFractions(policy)
      ? []
      : [
          notComputable(
            `${text} can not be given as a fraction: ${total === undefined ? 'no node tells the memory of its GPUs' : `GPUs that the pod can reach differ (${products(gpus)})`}`,
            'JAX and other frameworks that take a fraction are not capped; pin the product with a node selector.',
          ),
        ];
  return { ...positive(size), basis: text, ceiling: positive(size), findings };
}

function ofPercentage(milliPercent: number, text: string, policy: Bounds, gpus: readonly SharedGpu[]): MemoryCap {
  const thousandths = Math.floor(milliPercent / 100);
  if (gpus.length === 0) {
    if (policy.maxMiB !== undefined) return ofFallback(policy, text);
    const finding = notComputable(
      `${text} can not be given in MiB: no node tells the memory of its GPUs`,
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
  return { ...size, basis: `${text} of ${smallest}Mi`, ceiling: size, findings: [] };
}

function ofShares(policy: Bounds, gpus: readonly SharedGpu[]): MemoryCap {
  const shares = gpus.map((gpu) => {
    const share = Math.floor(gpu.totalMiB / gpu.replicas) - policy.reserveMiB;
    return { gpu, mib: Math.min(share, policy.maxMiB ?? share) };
  });
  const [first, ...others] = shares.sort((a, b) => a.mib - b.mib || a.gpu.product.localeCompare(b.gpu.product));
  if (!first || first.mib < SMALLEST_CAP_MIB) {
    const { totalMiB, replicas, product } = first?.gpu ?? { totalMiB: 0, replicas: 0, product: '' };
    return none([
      notComputable(
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
        `${wanted} can not be computed: no node that the pod can reach tells gpu.memory, gpu.replicas and a sharing strategy`,
        'No cap is set; set memoryCap.fallback in the policy, or an amount.',
      ),
    ]);
  }
  const mib = Math.min(policy.fallbackMiB, policy.maxMiB ?? policy.fallbackMiB);
  return {
    mib,
    basis: `fallback: ${mib}Mi`,
    ceiling: policy.maxMiB === undefined ? {} : { mib: policy.maxMiB },
    findings: [],
  };
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

function notComputable(message: string, fix: string): Finding {
  return { code: 'GPU143', severity: 'warning', field: 'spec', message: `memory cap ${message}`, fix };
}
