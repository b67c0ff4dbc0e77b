import { capAmount, SMALLEST_CAP_MIB } from '../policy/amount.ts';
import { gpuResource } from '../policy/resources.ts';
import { type Bounds, type CapSize, type MemoryCap, noCap, sized } from './cap-size.ts';
import { type Context, finalResource } from './context.ts';
import type { Code, Severity } from './findings.ts';
import { type ContainerView, fieldPath, type GpuAsk, type PodView, unitsAsked } from './pod.ts';
import { annotation, CAP_WISH } from './profile.ts';
import { droppedBesideRename } from './rename.ts';
import { reachableSharedGpus, type SharedGpu } from './shares.ts';
import { quoted } from './shown.ts';

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
  if (!policy.memoryCap || capped.length === 0) return noCap();
  const resources = new Set(capped.flatMap((container) => cappedResources(context, container)));
  const gpus = reachableSharedGpus(context, resources);
  const bounds: Bounds = { ...policy.memoryCap, field: fieldPath([...pod.path, 'spec']) };
  const own = sized(bounds.amount, bounds, gpus);
  const wish = pod.annotations.get(CAP_WISH);
  return wish === undefined ? own : wished(pod, wish, own, bounds, gpus);
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

/** A quantity that has no fraction must not lift the one that the policy has: the policy's own stays. */
function withOwnFraction(wished: MemoryCap, { thousandths, ceiling, findings }: MemoryCap): MemoryCap {
  if (wished.thousandths !== undefined || thousandths === undefined) return wished;
  const highest = ceiling.thousandths ?? thousandths;
  return { ...wished, thousandths, ceiling: { ...wished.ceiling, thousandths: highest }, findings };
}
