import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { evaluate } from '../../src/admission/evaluate.ts';
import type { Change } from '../../src/admission/findings.ts';
import { patchOf } from '../../src/admission/patch.ts';
import { resolvePolicy } from '../../src/policy/resolve.ts';
import { decodeProblems } from './arbitrary-apiserver.ts';
import { anyPod, decodablePod, type Json, soundPod } from './arbitrary-pod.ts';
import { applied, ask, RUNS, TIMEOUT, withDefaults } from './arbitrary-review.ts';
import { EXTRA_GPU, enforcing, judgeOf, type World, world, worldOf } from './arbitrary-world.ts';

const policyOf = ({ labels, policies }: World) =>
  resolvePolicy(labels, new Map(policies.map((policy) => [policy.metadata.name, policy])));
const snapshotOf = ({ nodes }: World) => ({ nodes, gpuResources: [EXTRA_GPU] });

function verdictOn(pod: unknown, around: World, path: readonly string[] = []) {
  return evaluate({ pod, path }, policyOf(around), snapshotOf(around));
}

const container = (name: string, limits: Json, more: Json = {}): Json => ({
  name,
  image: 'registry.example/app:1',
  resources: { limits, requests: { ...limits } },
  ...more,
});
const podOf = (containers: Json[], more: Json = {}): Json => ({
  metadata: { name: 'pod', annotations: {} },
  spec: { containers, ...more },
});
const MIG = { sharing: 'mig', mig: { profile: '1g.10gb' } };
const CAPPED = {
  sharing: 'time-slicing',
  timeSlicing: { requireSharedNode: true },
  memoryCap: { amount: 'auto', max: '4Gi', fallback: '4Gi' },
};

// Inputs that once broke a law.
const GPU = container('c0', { 'nvidia.com/gpu': '1' });
const SAME_NAMES = podOf([GPU], {
  initContainers: [container('c0', { 'nvidia.com/gpu': '0', 'nvidia.com/mig-1g.10gb': '1' })],
});
const NO_TERMS = podOf([GPU], {
  affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [] } } },
});
const LIMIT_TWICE = podOf([
  container(
    'c0',
    { 'nvidia.com/gpu': '1' },
    { env: ['99999', '1024'].map((value) => ({ name: 'GPU_MEMORY_LIMIT_MIB', value })) },
  ),
]);
const sameShares = {
  pod: podOf([GPU]),
  podAgain: podOf([GPU]),
  around: worldOf(CAPPED, [
    ['40960', '4'],
    ['40960', '8'],
  ]),
  aroundAgain: worldOf(CAPPED, [
    ['40960', '8'],
    ['40960', '4'],
  ]),
};

describe('laws of a verdict', { timeout: TIMEOUT }, () => {
  it('what it changes needs no more changes, whatever is wrong with the pod', () => {
    fc.assert(
      fc.property(anyPod, world, fc.boolean(), (pod, around, template) => {
        const path = template ? ['spec', 'template'] : [];
        const { changes } = verdictOn(pod, around, path);
        const object = template ? { spec: { template: pod } } : pod;
        const after = applied<Json>(object, patchOf(object, changes, path));
        const podAfter = template ? (after.spec as Json).template : after;
        expect(verdictOn(podAfter, around, path).changes).toEqual([]);
      }),
      {
        numRuns: RUNS,
        examples: [
          [SAME_NAMES, worldOf(MIG), false],
          [LIMIT_TWICE, worldOf(CAPPED), false],
        ],
      },
    );
  });

  it('a patch applies, has no test operation, and a second round has none', async () => {
    await fc.assert(
      fc.asyncProperty(anyPod, world, async (pod, around) => {
        const judge = judgeOf(around);
        const first = await ask(judge, 'mutate', pod);
        for (const operation of first.answer.patch ?? []) {
          expect(['add', 'replace', 'remove']).toContain(operation.op);
          expect(operation.path).toMatch(/^(\/([^~/]|~[01])*)+$/);
        }
        const after = applied(pod, first.answer.patch);
        const second = await ask(judge, 'mutate', after);
        if (first.answer.allowed) expect(second.answer.allowed, second.answer.message).toBe(true);
        expect(second.answer.patch ?? []).toEqual([]);
      }),
      { numRuns: RUNS },
    );
  });

  it('a patched pod decodes', async () => {
    await fc.assert(
      fc.asyncProperty(decodablePod, world, async (pod, around) => {
        fc.pre(decodeProblems(pod).length === 0);
        const { answer } = await ask(judgeOf(around), 'mutate', pod);
        const after = applied(pod, answer.patch);
        expect(decodeProblems(after)).toEqual([]);
        expect(unnamedEntries(after)).toBe(unnamedEntries(pod));
      }),
      { numRuns: RUNS },
    );
  });

  it('what is denied is not patched, and says why', async () => {
    await fc.assert(
      fc.asyncProperty(anyPod, world, fc.constantFrom('mutate', 'validate'), async (pod, around, webhook) => {
        const { answer } = await ask(judgeOf(around), webhook, pod);
        if (answer.allowed && webhook === 'mutate') return;
        expect(answer.patch ?? []).toEqual([]);
        if (answer.allowed) return;
        expect(answer.code).toBe(403);
        expect(answer.causes?.length).toBeGreaterThan(0);
        expect(answer.message).toMatch(/^gpugate: \d+ problems? with/);
      }),
      { numRuns: RUNS },
    );
  });

  it('what no change names stays as it is, byte for byte', () => {
    fc.assert(
      fc.property(anyPod, world, (pod, around) => {
        const { changes } = verdictOn(pod, around);
        const after = applied(pod, patchOf(pod, changes, []));
        expect(JSON.stringify(without(after, changes))).toBe(JSON.stringify(without(pod, changes)));
      }),
      { numRuns: RUNS },
    );
  });

  it('a template is announced, never patched', async () => {
    await fc.assert(
      fc.asyncProperty(anyPod, world, fc.constantFrom('mutate', 'validate'), async (pod, around, webhook) => {
        const object = { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'd' }, spec: { template: pod } };
        const kind = { group: 'apps', version: 'v1', kind: 'Deployment' };
        const { answer } = await ask(judgeOf(around), webhook, object, { kind });
        expect(answer.patch).toBeUndefined();
      }),
      { numRuns: RUNS },
    );
  });

  it('is the same in every order of policies, nodes, labels and annotations', async () => {
    const shuffled = <T>(items: readonly T[]) => fc.shuffledSubarray([...items], { minLength: items.length });
    const annotationsOf = (pod: Json) => Object.entries(((pod.metadata as Json).annotations ?? {}) as Json);
    const annotated = (pod: Json, annotations: readonly [string, unknown][]) => ({
      ...pod,
      metadata: { ...(pod.metadata as Json), annotations: Object.fromEntries(annotations) },
    });
    const twice = fc.tuple(fc.oneof(soundPod, decodablePod), world).chain(([pod, { policies, nodes, labels }]) =>
      fc.record({
        pod: fc.constant(annotated(pod, annotationsOf(pod))),
        around: fc.constant({ policies, nodes, labels }),
        podAgain: shuffled(annotationsOf(pod)).map((annotations) => annotated(pod, annotations)),
        aroundAgain: fc.record({
          policies: shuffled(policies),
          nodes: shuffled(nodes),
          labels: shuffled(Object.entries(labels)).map((entries) => Object.fromEntries(entries)),
        }),
      }),
    );
    await fc.assert(
      fc.asyncProperty(twice, async ({ pod, around, podAgain, aroundAgain }) => {
        expect(verdictOn(podAgain, aroundAgain)).toEqual(verdictOn(pod, around));
        const { preview, ...answer } = await ask(judgeOf(around), 'mutate', pod);
        const { preview: previewAgain, ...answerAgain } = await ask(judgeOf(aroundAgain), 'mutate', podAgain);
        expect(answerAgain).toEqual(answer);
        expect(previewAgain?.()).toEqual(preview?.());
      }),
      { numRuns: RUNS, examples: [[sameShares]] },
    );
  });
});

describe('mutate, then validate', { timeout: TIMEOUT }, () => {
  it('an enforcing policy lets by what it patched', async () => {
    let changed = 0;
    await fc.assert(
      fc.asyncProperty(soundPod, enforcing, async (pod, around) => {
        const judge = judgeOf(around);
        const { answer } = await ask(judge, 'mutate', pod);
        if (!answer.allowed) return;
        changed += answer.patch ? 1 : 0;
        const final = await ask(judge, 'validate', withDefaults(applied(pod, answer.patch)));
        expect(final.answer.allowed, final.answer.message).toBe(true);
        expect(final.answer.warnings).toEqual([]);
      }),
      { numRuns: RUNS, examples: [[NO_TERMS, worldOf(CAPPED, [['16384', '4']])]] },
    );
    expect(changed, 'most pods are patched').toBeGreaterThan(RUNS / 10);
  });

  it('also when it is a pod of any kind', async () => {
    await fc.assert(
      fc.asyncProperty(decodablePod, world, async (pod, around) => {
        const judge = judgeOf(around);
        const { answer } = await ask(judge, 'mutate', pod);
        if (!answer.allowed) return;
        const final = await ask(judge, 'validate', applied(pod, answer.patch));
        expect(final.answer.allowed, final.answer.message).toBe(true);
      }),
      { numRuns: RUNS },
    );
  });

  it('a second mutator in between changes nothing of the outcome for the containers of the pod', async () => {
    await fc.assert(
      fc.asyncProperty(soundPod, enforcing, otherMutator, async (pod, around, other) => {
        const judge = judgeOf(around);
        const first = await ask(judge, 'mutate', pod);
        if (!first.answer.allowed) return;
        const alone = applied(pod, first.answer.patch);
        const between = other(withDefaults(alone));
        // reinvocationPolicy IfNeeded: what the other one added is looked at once more.
        const again = await ask(judge, 'mutate', between);
        expect(again.answer.allowed, again.answer.message).toBe(true);
        const after = applied(between, again.answer.patch);
        const own = (object: Json) => containersOf(object).filter(({ name }) => name !== 'injected');
        expect(own(after)).toEqual(own(between));
        expect(gpusOf(after)).toEqual(gpusOf(withDefaults(alone)));
        const final = await ask(judge, 'validate', after);
        expect(final.answer.allowed, final.answer.message).toBe(true);
      }),
      { numRuns: RUNS },
    );
  });
});

const containersOf = (pod: Json) => (pod.spec as { containers: Json[] }).containers;
const gpusOf = (pod: Json) =>
  containersOf(pod).flatMap(({ name, resources }) =>
    name === 'injected' ? [] : [[name, (resources as Json | undefined)?.limits]],
  );

/** What service meshes and the like do to a pod. */
const otherMutator: fc.Arbitrary<(pod: Json) => Json> = fc.constantFrom<((pod: Json) => Json)[]>(
  (pod) => withSpec(pod, ({ containers, ...spec }) => ({ ...spec, containers: [...(containers as Json[]), SIDECAR] })),
  (pod) => withSpec(pod, ({ containers, ...spec }) => ({ ...spec, containers: [SIDECAR, ...(containers as Json[])] })),
  (pod) => withSpec(pod, (spec) => ({ ...spec, initContainers: [{ ...SIDECAR, restartPolicy: 'Always' }] })),
  (pod) =>
    withSpec(pod, (spec) => ({
      ...spec,
      containers: (spec.containers as Json[]).map((item) => ({
        ...item,
        env: [{ name: 'HOST_IP', value: '10.0.0.1' }, ...((item.env as Json[] | null | undefined) ?? [])],
      })),
    })),
  (pod) => withSpec(pod, (spec) => Object.fromEntries(Object.entries({ ...spec, priorityClassName: 'x' }).reverse())),
  (pod) => ({ ...pod, metadata: { ...(pod.metadata as Json), labels: { mesh: 'on' } } }),
  (pod) => {
    const metadata = pod.metadata as Json;
    return { ...pod, metadata: { ...metadata, annotations: { mesh: 'on', ...(metadata.annotations as Json | null) } } };
  },
);
const SIDECAR = { name: 'injected', image: 'mesh', resources: { limits: { cpu: '1' } } };

function withSpec(pod: Json, change: (spec: Json) => Json): Json {
  return { ...pod, spec: change(pod.spec as Json) };
}

function unnamedEntries(pod: Json): number {
  return JSON.stringify(pod, (key, value) =>
    key === 'env' && Array.isArray(value) ? value.map((entry) => entry?.name ?? 'UNNAMED') : value,
  ).split('UNNAMED').length;
}

/** A pod without what the changes name, and without the parents that this leaves empty. */
function without(pod: Json, changes: readonly Change[]): unknown {
  const copy = structuredClone(pod) as { metadata?: Json; spec?: Json };
  const prune = (parent: unknown, keys: readonly string[]): void => {
    const [key, ...rest] = keys;
    if (key === undefined || typeof parent !== 'object' || parent === null) return;
    const holder = parent as Record<string, unknown>;
    prune(holder[key], rest);
    const value = holder[key];
    const empty = typeof value !== 'object' || value === null || Object.keys(value).length === 0;
    if (empty) delete holder[key];
  };
  const containerAt = (path: readonly (string | number)[]) =>
    path.reduce<unknown>((here, part) => (here as Record<string | number, unknown>)[part], copy) as Json;
  const removeKey = (holder: unknown, key: string) => {
    if (typeof holder === 'object' && holder !== null) delete (holder as Record<string, unknown>)[key];
  };
  for (const change of changes) {
    switch (change.type) {
      case 'set-annotation':
        removeKey(copy.metadata?.annotations, change.name);
        prune(copy, ['metadata', 'annotations']);
        break;
      case 'set-runtime-class':
        removeKey(copy.spec, 'runtimeClassName');
        break;
      case 'set-env': {
        const container = containerAt(change.container.path) as { env?: unknown };
        if (Array.isArray(container.env)) {
          const index = container.env.findLastIndex((entry) => entry?.name === change.name);
          if (index >= 0) container.env.splice(index, 1);
        }
        prune(container, ['env']);
        break;
      }
      case 'add-toleration':
        if (Array.isArray(copy.spec?.tolerations)) {
          const key = JSON.stringify(change.toleration);
          (copy.spec as Json).tolerations = copy.spec.tolerations.filter((own) => JSON.stringify(own) !== key);
        }
        prune(copy, ['spec', 'tolerations']);
        break;
      case 'require-node': {
        const affinity = copy.spec?.affinity as
          | { nodeAffinity?: { requiredDuringSchedulingIgnoredDuringExecution?: { nodeSelectorTerms?: Json[] } } }
          | undefined;
        const required = affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution;
        const wanted = JSON.stringify(change.requirement);
        for (const term of required?.nodeSelectorTerms ?? []) {
          if (!term || !Array.isArray(term.matchExpressions) || term.matchExpressions.length === 0) continue;
          term.matchExpressions = term.matchExpressions.filter((own) => JSON.stringify(own) !== wanted);
        }
        if (required?.nodeSelectorTerms) {
          required.nodeSelectorTerms = required.nodeSelectorTerms.filter(
            (term) => JSON.stringify(term) !== '{"matchExpressions":[]}',
          );
        }
        prune(copy, [
          'spec',
          'affinity',
          'nodeAffinity',
          'requiredDuringSchedulingIgnoredDuringExecution',
          'nodeSelectorTerms',
        ]);
        break;
      }
      default: {
        const container = containerAt(change.container.path);
        const names = change.type === 'rename-resource' ? [change.from, change.to] : [change.resource];
        for (const list of ['limits', 'requests']) {
          for (const name of names) removeKey((container.resources as Json | null | undefined)?.[list], name);
          prune(container, ['resources', list]);
        }
      }
    }
  }
  return copy;
}
