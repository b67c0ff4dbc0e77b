import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { asksForGpu, viewPod } from '../../src/admission/pod.ts';
import { parseQuantity } from '../../src/admission/quantity.ts';
import { decodablePod, type Json, soundPod } from './arbitrary-pod.ts';
import { applied, ask, RUNS, TIMEOUT } from './arbitrary-review.ts';
import { EXTRA_GPU, enforcing, judgeOf, type World, world } from './arbitrary-world.ts';

const MIB = 2 ** 20;

describe('void and caps', { timeout: TIMEOUT }, () => {
  it('a container that asks for a GPU, or has a claim, never has its GPUs hidden; every other one has, where the policy says so', async () => {
    await fc.assert(
      fc.asyncProperty(fc.oneof(claimingPod, soundPod, decodablePod), world, async (pod, around) => {
        const { answer } = await ask(judgeOf(around), 'mutate', pod);
        const after = viewPod(applied(pod, answer.patch), [], [EXTRA_GPU]);
        for (const [index, container] of viewPod(pod, [], [EXTRA_GPU]).containers.entries()) {
          const hidden = (env: typeof container.env) =>
            env.some(({ name, value }) => name === 'NVIDIA_VISIBLE_DEVICES' && value === 'void');
          if (!asksForGpu(container) && !claims(rawContainers(pod)[index])) continue;
          expect(hidden(after.containers[index]?.env ?? [])).toBe(hidden(container.env));
        }
      }),
      { numRuns: RUNS },
    );
  });

  it('a cap is never above what the policy, or the wish of the pod, allows', async () => {
    let capped = 0;
    await fc.assert(
      fc.asyncProperty(nearTheCap, enforcing, async (pod, around) => {
        const { answer, changes, findings } = await ask(judgeOf(around), 'mutate', pod);
        if (!answer.allowed || !changes.some(({ code }) => code === 'GPU140' || code === 'GPU141')) return;
        // Where it says that an amount can't be compared, variables of that measure are left.
        if (findings.some(({ code }) => code === 'GPU143')) return;
        capped += 1;
        const fallback = JSON.stringify(answer.patch).includes('fallback: ');
        const bound = boundOf(pod, around, fallback);
        // Without a known total the cap is in MiB only, and a fraction has nothing to be held against.
        const bare = await ask(judgeOf(around), 'mutate', withoutEnv(pod));
        const fractions = JSON.stringify(bare.answer.patch ?? []).includes('GPU_MEMORY_FRACTION');
        for (const { resources, env } of containersOf(applied(pod, answer.patch))) {
          const limits = (resources as { limits: Json }).limits;
          if (!Object.keys(limits).some((name) => name.startsWith('nvidia.com/gpu'))) continue;
          for (const { name, value } of (env ?? []) as { name: string; value?: string }[]) {
            // Nonsense in a measure that the cap has no figure for bounds nothing, and stays.
            const bytes = value === undefined ? undefined : amountOf(name, value, around);
            if (name.includes('FRACTION') && !fractions) continue;
            if (bytes !== undefined && !Number.isNaN(bytes))
              expect(bytes, `${name}=${value}`).toBeLessThanOrEqual(bound);
          }
        }
      }),
      { numRuns: RUNS * 2 },
    );
    expect(capped).toBeGreaterThan(RUNS / 20);
  });
});

/** A pod whose first container may get a GPU by a claim. */
const claimingPod: fc.Arbitrary<Json> = soundPod.map((pod) => {
  const [first, ...others] = rawContainers(pod);
  const claiming = { ...first, resources: { claims: [{ name: 'gpu' }] } };
  return { ...pod, spec: { ...(pod.spec as Json), containers: [claiming, ...others] } };
});

/** As viewPod reads them, in its order. */
function rawContainers(pod: Json): Json[] {
  const { initContainers, containers, ephemeralContainers } = pod.spec as Record<string, Json[] | null | undefined>;
  return [...(initContainers ?? []), ...(containers ?? []), ...(ephemeralContainers ?? [])];
}

function claims(container: Json | undefined): boolean {
  return (((container?.resources as Json | null | undefined)?.claims ?? []) as unknown[]).length > 0;
}

/** A pod whose own variables are about as large as the caps of the policies. */
const nearTheCap: fc.Arbitrary<Json> = fc
  .tuple(
    soundPod,
    fc.array(
      fc.tuple(fc.constantFrom('GPU_MEMORY_LIMIT_MIB', 'NVIDIA_GPU_MEMORY_LIMIT'), fc.integer({ min: 200, max: 9000 })),
      { maxLength: 1 },
    ),
  )
  .map(([pod, own]) => {
    const [first, ...rest] = containersOf(pod);
    const others = ((first?.env ?? []) as Json[]).filter(({ name }) => own.every(([added]) => added !== name));
    const env = [...others, ...own.map(([name, mib]) => ({ name, value: String(mib) }))];
    return { ...pod, spec: { ...(pod.spec as Json), containers: [{ ...first, env }, ...rest] } };
  });

const containersOf = (pod: Json) => (pod.spec as { containers: Json[] }).containers;

function withoutEnv(pod: Json): Json {
  const containers = containersOf(pod).map(({ env: _, ...container }) => container);
  return { ...pod, spec: { ...(pod.spec as Json), containers } };
}

const READERS: Readonly<Record<string, (value: string, totalMiB: number) => number>> = {
  GPU_MEMORY_LIMIT_MIB: (value) => Number(value) * MIB,
  NVIDIA_GPU_MEMORY_LIMIT: (value) => Number(value) * MIB,
  NVIDIA_GPU_MEMORY_REQUEST: (value) => Number(value) * MIB,
  FLAGS_gpu_memory_limit_mb: (value) => Number(value) * MIB,
  CUPY_GPU_MEMORY_LIMIT: (value, total) =>
    value.endsWith('%') ? (Number(value.slice(0, -1)) / 100) * total * MIB : Number(value),
  GPU_MEMORY_FRACTION: (value, total) => Number(value) * total * MIB,
  XLA_PYTHON_CLIENT_MEM_FRACTION: (value, total) => Number(value) * total * MIB,
};

/** The bytes that a variable lets a process take on the largest GPU of the world, for variables that the policy sets. */
function amountOf(name: string, value: string, { policies, nodes }: World): number | undefined {
  const cap = policies[0]?.spec.memoryCap;
  const sets = cap?.frameworks ?? ['nvidia', 'jax', 'cupy', 'paddle'];
  const set = name.startsWith('GPU_') || sets.some((framework) => OWNER[name] === framework);
  const total = Math.max(0, ...reachableTotals({ nodes }));
  if (!set || !READERS[name]) return undefined;
  // A fraction of an unknown total bounds nothing that could be compared here.
  const needsTotal = name.includes('FRACTION') || value.endsWith('%');
  return needsTotal && !sameTotals(nodes) ? undefined : READERS[name](value, total);
}

const OWNER: Readonly<Record<string, string>> = {
  NVIDIA_GPU_MEMORY_LIMIT: 'nvidia',
  NVIDIA_GPU_MEMORY_REQUEST: 'nvidia',
  FLAGS_gpu_memory_limit_mb: 'paddle',
  CUPY_GPU_MEMORY_LIMIT: 'cupy',
  XLA_PYTHON_CLIENT_MEM_FRACTION: 'jax',
};

const reachableTotals = ({ nodes }: Pick<World, 'nodes'>) =>
  nodes.map(({ labels }) => Number(labels['nvidia.com/gpu.memory'])).filter((total) => total > 0);
const sameTotals = (nodes: World['nodes']) =>
  nodes.length > 0 && new Set(nodes.map(({ labels }) => labels['nvidia.com/gpu.memory'])).size === 1;

/** The largest amount that anything allows, in bytes. */
function boundOf(pod: Json, { policies, nodes }: World, fallback: boolean): number {
  const cap = policies[0]?.spec.memoryCap;
  // The pod may reach none of the nodes; a percentage is of nothing then.
  const total = fallback
    ? Number.POSITIVE_INFINITY
    : Math.max(...reachableTotals({ nodes }), 0) || Number.POSITIVE_INFINITY;
  const max = (cap?.max ?? Number.POSITIVE_INFINITY) * MIB;
  const own =
    cap?.amount.kind === 'mib'
      ? cap.amount.mib * MIB
      : cap?.amount.kind === 'percent'
        ? (total * cap.amount.milliPercent * MIB) / 100_000
        : Number.POSITIVE_INFINITY;
  const wish = ((pod.metadata as Json).annotations as Json)['gpugate.dev/memory-cap'];
  const wished =
    typeof wish !== 'string' || wish === 'auto'
      ? undefined
      : wish.endsWith('%')
        ? (total * Number(wish.slice(0, -1)) * MIB) / 100
        : Number(parseQuantity(wish)?.nano) / 1e9;
  // A wish may raise the policy's amount up to its maximum, and no further.
  if (wish === 'auto') return cap?.max === undefined ? own : max;
  if (wished === undefined) return Math.min(max, own);
  return cap?.max === undefined ? Math.min(wished, own) : Math.min(wished, max);
}
