import { describe, expect, it } from 'vitest';
import type { EffectivePolicy } from '../../policy/policy.ts';
import { NO_POLICY } from '../../policy/policy.ts';
import { resolvePolicy } from '../../policy/resolve.ts';
import { gpuPolicySchema } from '../../policy/schema.ts';
import type { PodRequest } from '../context.ts';
import { evaluate } from '../evaluate.ts';
import { type Change, type Code, type Finding, isChange, type Verdict } from '../findings.ts';
import type { NodeInfo, Snapshot } from '../snapshot.ts';

/** Fixtures of the rules' tables: pods as people write them, policies through the schema, and verdicts without their prose. */

type Json = Readonly<Record<string, unknown>>;

export function container(name: string, parts: Json = {}): Json {
  return { name, image: 'reg.example/train:1', ...parts };
}

/** A container with these limits; requests are the same, as the API server defaults them, unless they are given. */
export function asking(limits: Json, requests: Json = limits, parts: Json = {}): Json {
  return container('train', { resources: { limits, requests }, ...parts });
}

/** A container with one `nvidia.com/gpu` and these variables. */
export function withEnv(env: Readonly<Record<string, unknown>> | readonly Json[], limits: Json = ONE_GPU): Json {
  const entries = Array.isArray(env) ? env : Object.entries(env).map(([name, value]) => ({ name, value }));
  return asking(limits, limits, { env: entries });
}

export function pod(containers: Json | readonly Json[], spec: Json = {}, annotations: Json = {}): Json {
  return { metadata: { name: 'train', annotations }, spec: { containers: [containers].flat(), ...spec } };
}

export const ONE_GPU: Json = { 'nvidia.com/gpu': 1 };
/** The limit of the first container's `nvidia.com/gpu`. */
export const LIMIT = 'spec.containers[0].resources.limits[nvidia.com/gpu]';

/** The policy of a namespace that names a GpuPolicy with this spec and has these further labels. */
export function governed(spec: Json, labels: Readonly<Record<string, string>> = {}): EffectivePolicy {
  const document = gpuPolicySchema.parse({
    apiVersion: 'gpugate.dev/v1alpha1',
    kind: 'GpuPolicy',
    metadata: { name: 'tested' },
    spec,
  });
  return resolvePolicy({ 'gpugate.dev/policy': 'tested', ...labels }, new Map([['tested', document]]));
}

/** The policy of a namespace with these `gpugate.dev/` labels alone. */
export function labelled(labels: Readonly<Record<string, string>>): EffectivePolicy {
  const entries = Object.entries(labels).map(([name, value]) => [`gpugate.dev/${name}`, value]);
  return resolvePolicy(Object.fromEntries(entries), new Map());
}

/** A node of feature discovery whose GPUs are shared. */
export function sharedNode(
  memoryMiB: number,
  replicas: number,
  { name = 'node', strategy = 'time-slicing', resource = 'nvidia.com/gpu', labels = {} } = {},
): NodeInfo {
  return {
    name,
    labels: {
      'nvidia.com/gpu.product': `GPU-${memoryMiB}`,
      'nvidia.com/gpu.memory': String(memoryMiB),
      'nvidia.com/gpu.replicas': String(replicas),
      'nvidia.com/gpu.sharing-strategy': strategy,
      ...labels,
    },
    allocatable: { [resource]: String(replicas) },
  };
}

export interface World {
  readonly policy?: EffectivePolicy;
  readonly nodes?: readonly NodeInfo[];
  readonly gpuResources?: readonly string[];
  readonly deviceClassResources?: Snapshot['deviceClassResources'];
  readonly runtimeClasses?: Snapshot['runtimeClasses'];
  readonly limits?: Snapshot['limits'];
  readonly path?: PodRequest['path'];
  readonly object?: unknown;
  readonly before?: unknown;
}

export function judge(
  judged: unknown,
  {
    policy = NO_POLICY,
    nodes = [],
    gpuResources = [],
    deviceClassResources,
    runtimeClasses,
    limits,
    ...request
  }: World,
): Verdict {
  return evaluate({ pod: judged, path: [], ...request }, policy, {
    nodes,
    gpuResources,
    deviceClassResources,
    runtimeClasses,
    limits,
  });
}

/** What a verdict says under one code, without prose and with containers by name. The records have a test of their own. */
function told(code: Code, judged: unknown, world: World = {}): readonly Json[] {
  const { findings, changes } = judge(judged, world);
  // The annotations that record a change carry its code; record.ts has its own tests.
  const records = (result: Finding | Change) => isChange(result) && result.type === 'set-annotation';
  return [...findings, ...changes].filter((result) => result.code === code && !records(result)).map(plain);
}

function plain(result: Finding | Change): Json {
  if (isChange(result)) {
    const { code: _, reason: __, ...change } = result;
    return 'container' in change ? { ...change, container: change.container.name } : change;
  }
  const { severity, field, value } = result;
  return value === undefined ? { severity, field } : { severity, field, value };
}

export interface Case extends World {
  readonly pod: unknown;
  /** What the rule's code says, nothing else being looked at. */
  readonly want: readonly Json[];
}

/** One test for each case, named by its sentence. */
export function table(code: Code, cases: Readonly<Record<string, Case>>): void {
  describe(code, () => {
    it.each(Object.entries(cases))('%s', (_, { pod: judged, want, ...world }) => {
      expect(told(code, judged, world)).toEqual(want);
    });
  });
}
