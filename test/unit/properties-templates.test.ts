import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { AdmissionRequest } from '../../src/admission/review.ts';
import { anyPod, type Json, soundPod } from './arbitrary-pod.ts';
import { applied, ask, RUNS, TIMEOUT } from './arbitrary-review.ts';
import { enforcing, judgeOf, type World, world } from './arbitrary-world.ts';

/** Deployments hold one template; a PyTorchJob, which runs once, and a RayCluster, which lives on, several. */
const KINDS = {
  Deployment: {
    kind: { group: 'apps', version: 'v1', kind: 'Deployment' },
    wrap: (template: Json): Json => ({ metadata: { name: 'x' }, spec: { template } }),
  },
  PyTorchJob: {
    kind: { group: 'kubeflow.org', version: 'v1', kind: 'PyTorchJob' },
    wrap: (template: Json): Json => ({
      metadata: { name: 'x' },
      spec: { pytorchReplicaSpecs: { Master: { template }, Worker: { template: structuredClone(template) } } },
    }),
  },
  RayCluster: {
    kind: { group: 'ray.io', version: 'v1', kind: 'RayCluster' },
    wrap: (template: Json): Json => ({ metadata: { name: 'x' }, spec: { workerGroupSpecs: [{}, { template }] } }),
  },
} as const;
const anyKind = fc.constantFrom(...Object.values(KINDS));

const templates = (setting: 'off' | 'warn' | 'deny' | 'mutate') => (around: World) => ({
  ...around,
  policies: around.policies.map((policy) => ({ ...policy, spec: { ...policy.spec, templates: setting } })),
});
const mutating = enforcing.map(templates('mutate'));
const others = fc
  .tuple(world, fc.constantFrom('off', 'warn', 'deny'))
  .map(([around, setting]) => templates(setting)(around));
const asked = ({ kind }: { kind: AdmissionRequest['kind'] }, oldObject?: unknown): Partial<AdmissionRequest> => {
  return oldObject === undefined ? { kind } : { kind, operation: 'UPDATE', oldObject };
};

describe('laws of templates', { timeout: TIMEOUT }, () => {
  it('what is changed needs no more changes, and its preview has nothing to refuse or announce', async () => {
    await fc.assert(
      fc.asyncProperty(anyPod, mutating, anyKind, async (pod, around, workload) => {
        const judge = judgeOf(around);
        const object = workload.wrap(pod);
        const first = await ask(judge, 'mutate', object, asked(workload));
        if (!first.answer.allowed) {
          expect(first.answer.patch ?? []).toEqual([]);
          return;
        }
        const after = applied(object, first.answer.patch);
        const second = await ask(judge, 'mutate', after, asked(workload));
        expect(second.answer.patch ?? []).toEqual([]);
        const final = await ask(judge, 'validate', after, asked(workload));
        expect(final.answer.allowed, final.answer.message).toBe(true);
        expect(final.changes).toEqual([]);
      }),
      { numRuns: RUNS },
    );
  });

  it('nothing is changed where the policy does not say so', async () => {
    await fc.assert(
      fc.asyncProperty(anyPod, anyPod, others, anyKind, fc.boolean(), async (pod, old, around, workload, update) => {
        const judge = judgeOf(around);
        const details = asked(workload, update ? workload.wrap(old) : undefined);
        for (const webhook of ['mutate', 'validate'] as const) {
          expect((await ask(judge, webhook, workload.wrap(pod), details)).answer.patch ?? []).toEqual([]);
        }
      }),
      { numRuns: RUNS },
    );
  });

  it('an update is patched so that the patch applies, and a second round has none', async () => {
    await fc.assert(
      fc.asyncProperty(anyPod, anyPod, mutating, anyKind, async (pod, old, around, workload) => {
        const judge = judgeOf(around);
        const object = workload.wrap(pod);
        const details = asked(workload, workload.wrap(old));
        const first = await ask(judge, 'mutate', object, details);
        if (!first.answer.allowed) return;
        const after = applied(object, first.answer.patch);
        expect((await ask(judge, 'mutate', after, details)).answer.patch ?? []).toEqual([]);
      }),
      { numRuns: RUNS },
    );
  });

  it.each([
    ['replaces the lists of the live object, as for custom resources', replacing],
    ['is merged into the live object by name, as for built-in kinds', merging],
  ])('a manifest applied again changes nothing when it %s', async (_, again) => {
    await fc.assert(
      fc.asyncProperty(soundPod, mutating, anyKind, async (pod, around, workload) => {
        const judge = judgeOf(around);
        const manifest = JSON.parse(JSON.stringify(workload.wrap(pod)));
        const made = await ask(judge, 'mutate', manifest, asked(workload));
        if (!made.answer.allowed) return;
        const live = applied(manifest, made.answer.patch);
        const update = again(manifest, live) as Json;
        const { answer } = await ask(judge, 'mutate', update, asked(workload, live));
        expect(answer.allowed, answer.message).toBe(true);
        expect(applied(update, answer.patch)).toEqual(live);
      }),
      { numRuns: RUNS },
    );
  });
});

/** RFC 7386 and server-side apply of a schemaless object: maps are merged, lists are the manifest's. */
function replacing(manifest: unknown, live: unknown): unknown {
  if (!isMap(manifest) || !isMap(live)) return manifest;
  return Object.fromEntries(
    [...new Set([...Object.keys(live), ...Object.keys(manifest)])].map((key) => [
      key,
      Object.hasOwn(manifest, key) ? replacing(manifest[key], live[key]) : live[key],
    ]),
  );
}

const BY_NAME = ['containers', 'initContainers', 'ephemeralContainers', 'env'];

/** As above, but containers and their variables are merged by name; they keep the order of the live object. */
function merging(manifest: unknown, live: unknown, field = ''): unknown {
  if (Array.isArray(manifest) && Array.isArray(live) && (BY_NAME.includes(field) || manifest.some(isRayGroup))) {
    return live.map((item, index) => {
      const own = BY_NAME.includes(field)
        ? manifest.findLast((other) => nameOf(other) === nameOf(item))
        : manifest[index];
      return own === undefined ? item : merging(own, item);
    });
  }
  if (!isMap(manifest) || !isMap(live)) return manifest;
  return Object.fromEntries(
    [...new Set([...Object.keys(live), ...Object.keys(manifest)])].map((key) => [
      key,
      Object.hasOwn(manifest, key) ? merging(manifest[key], live[key], key) : live[key],
    ]),
  );
}

const isMap = (value: unknown): value is Json => typeof value === 'object' && value !== null && !Array.isArray(value);
const nameOf = (value: unknown) => (isMap(value) ? value.name : undefined);
const isRayGroup = (value: unknown) => isMap(value) && isMap(value.template);
