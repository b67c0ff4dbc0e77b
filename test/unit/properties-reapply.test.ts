import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Json, soundPod } from './arbitrary-pod.ts';
import { applied, ask, RUNS, TIMEOUT, withDefaults } from './arbitrary-review.ts';
import { enforcing, judgeOf, type World } from './arbitrary-world.ts';

/** A manifest, and the pod that runs after gpugate changed it; only pods that it did change. */
async function started(manifest: Json, around: World): Promise<Json | undefined> {
  const pod = withDefaults(manifest);
  const { answer } = await ask(judgeOf(around), 'mutate', pod);
  return answer.allowed && answer.patch ? withDefaults(applied(pod, answer.patch)) : undefined;
}

/** What the API server gets after gpugate has seen an update. */
async function updated(update: Json, running: Json, around: World): Promise<Json> {
  const judgement = await ask(judgeOf(around), 'mutate', update, { operation: 'UPDATE', oldObject: running });
  expect(judgement.answer.allowed).toBe(true);
  return applied(update, judgement.answer.patch);
}

describe('a manifest that is applied again', { timeout: TIMEOUT }, () => {
  it.each<[how: string, send: (manifest: Json, running: Json) => Json]>([
    [
      'client-side, merged into the running pod',
      (manifest, running) => withDefaults(mergedByKubectl(running, manifest) as Json),
    ],
    ['as a whole', (manifest) => withDefaults(manifest)],
  ])('%s, leaves the pod as it runs', async (_, send) => {
    let tried = 0;
    await fc.assert(
      fc.asyncProperty(soundPod, enforcing, async (pod, around) => {
        const manifest = withoutNulls(pod) as Json;
        const running = await started(manifest, around);
        if (!running) return;
        tried += 1;
        const update = send(manifest, running);
        const after = await updated(update, running, around);
        expect(fixed(after)).toEqual(fixed(running));
        expect(rest(after)).toEqual(rest(update));
      }),
      { numRuns: RUNS },
    );
    expect(tried).toBeGreaterThan(RUNS / 10);
  });

  it('with other GPUs or variables is left to the API server, which refuses it', async () => {
    let tried = 0;
    await fc.assert(
      fc.asyncProperty(soundPod, enforcing, otherWish, fc.boolean(), async (pod, around, wish, whole) => {
        const manifest = withoutNulls(pod) as Json;
        const running = await started(manifest, around);
        if (!running) return;
        const [first, ...others] = containersOf(manifest);
        const wished = wish(first as Json);
        const next = { ...manifest, spec: { ...(manifest.spec as Json), containers: [wished, ...others] } };
        const update = withDefaults(whole ? next : (mergedByKubectl(running, next) as Json));
        const after = containersOf(await updated(update, running, around))[0];
        tried += 1;
        expect([after?.resources, after?.env ?? []]).not.toEqual([
          containersOf(running)[0]?.resources,
          containersOf(running)[0]?.env ?? [],
        ]);
      }),
      { numRuns: RUNS },
    );
    expect(tried).toBeGreaterThan(RUNS / 10);
  });

  it('does nothing to a pod that gpugate never changed', async () => {
    await fc.assert(
      fc.asyncProperty(soundPod, soundPod, enforcing, async (one, two, around) => {
        const { answer } = await ask(judgeOf(around), 'mutate', one, { operation: 'UPDATE', oldObject: two });
        expect(answer.patch).toEqual([]);
      }),
      { numRuns: RUNS },
    );
  });
});

const containersOf = (pod: Json) => (pod.spec as { containers: Json[] }).containers;

/** Ways in which a later manifest asks for something else than the first. */
const otherWish: fc.Arbitrary<(container: Json) => Json> = fc.constantFrom<((container: Json) => Json)[]>(
  (container) => withResource(container, 'nvidia.com/gpu', '7'),
  (container) => withResource(container, 'nvidia.com/mig-3g.40gb', '1'),
  (container) => withResource(container, 'amd.com/gpu', '1'),
  (container) => withVariable(container, 'NEW', 'x'),
  (container) => ({ ...withVariable(container, 'NEW', 'x'), ...changed(container) }),
  (container) => withVariable(container, 'NVIDIA_MIG_CONFIG_DEVICES', 'all'),
);

function withResource(container: Json, name: string, quantity: string): Json {
  const { limits, requests } = container.resources as { limits: Json; requests: Json };
  return {
    ...container,
    resources: { limits: { ...limits, [name]: quantity }, requests: { ...requests, [name]: quantity } },
  };
}

/** Another value for a variable that gpugate never sets, where there is one. */
function changed({ env }: Json): { env?: Json[] } {
  const plain = ((env ?? []) as Json[]).find(({ name, value }) => PLAIN.has(String(name)) && value !== 'changed');
  if (!plain) return {};
  return { env: (env as Json[]).map((entry) => (entry === plain ? { name: entry.name, value: 'changed' } : entry)) };
}

const PLAIN = new Set(['PATH', 'HOME', 'A~b/c', 'CUDA_DISABLE_CONTROL', 'NVIDIA_DRIVER_CAPABILITIES']);

function withVariable(container: Json, name: string, value: string): Json {
  return { ...container, env: [...((container.env as Json[] | undefined) ?? []), { name, value }] };
}

/** What a pod's update may not change. */
function fixed(pod: Json): unknown {
  return containersOf(pod).map(({ name, resources, env }) => ({ name, resources, env: env ?? [] }));
}

/** Everything that gpugate has no business with when a manifest is applied again. */
function rest(pod: Json): unknown {
  const { annotations, ...metadata } = pod.metadata as Json;
  const { affinity: _, tolerations: __, containers, ...spec } = pod.spec as Json;
  const others = Object.entries((annotations ?? {}) as Json).filter(([name]) => !name.startsWith('gpugate.dev/'));
  return {
    ...pod,
    metadata: { ...metadata, annotations: Object.fromEntries(others) },
    spec: {
      ...spec,
      containers: (containers as Json[]).map(({ resources, env: ___, ...container }) => ({
        ...container,
        cpu: cpuOf(resources),
      })),
    },
  };
}

const cpuOf = (resources: unknown) => (resources as { limits?: Json } | undefined)?.limits?.cpu;

/** A strategic merge: objects by key, containers and env by name, other lists as a whole (types.go, patchStrategy). */
function mergedByKubectl(running: unknown, manifest: unknown, key = ''): unknown {
  if (Array.isArray(manifest)) {
    if (!Array.isArray(running) || !['containers', 'initContainers', 'env'].includes(key)) return manifest;
    const wanted = new Map((manifest as Json[]).map((item) => [item.name, item]));
    const present = new Set((running as Json[]).map(({ name }) => name));
    const kept = (running as Json[]).map((item) => mergedByKubectl(item, wanted.get(item.name) ?? {}));
    return [...kept, ...(manifest as Json[]).filter(({ name }) => !present.has(name))];
  }
  if (typeof manifest !== 'object' || manifest === null || typeof running !== 'object' || running === null)
    return manifest;
  const merged: Json = { ...running };
  for (const [name, value] of Object.entries(manifest)) merged[name] = mergedByKubectl(merged[name], value, name);
  return merged;
}

/** kubectl takes a null for a field that is not there. */
function withoutNulls(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value, (_, item) => (item === null ? undefined : item)));
}
