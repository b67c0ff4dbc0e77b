import { SMALLEST_CAP_MIB } from '../policy/amount.ts';
import type { CapAmount, MemoryCapPolicy } from '../policy/policy.ts';
import type { Finding } from './findings.ts';
import type { SharedGpu } from './shares.ts';

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

/** The policy's bounds, and the field that findings about the whole pod name. */
export type Bounds = Omit<MemoryCapPolicy, 'maxMiB'> & { readonly maxMiB?: number | undefined; readonly field: string };

/** What an amount comes to on the GPUs that the pod can reach. */
export function sized(amount: CapAmount, policy: Bounds, gpus: readonly SharedGpu[]): MemoryCap {
  switch (amount.kind) {
    case 'off':
      return noCap();
    case 'mib':
      return ofQuantity(amount.mib, amount.text, policy, gpus);
    case 'percent':
      return ofPercentage(amount.milliPercent, amount.text, policy, gpus);
    case 'auto':
      return gpus.length > 0 ? ofShares(policy, gpus) : ofFallback(policy);
  }
}

export function noCap(findings: readonly Finding[] = []): MemoryCap {
  return { basis: '', ceiling: {}, findings };
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
    return noCap([notComputable(policy.field, message, 'No cap is set; use a larger percentage, or a quantity.')]);
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
    return noCap([
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
    return noCap([
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
