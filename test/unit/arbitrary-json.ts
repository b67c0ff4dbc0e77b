import fc from 'fast-check';

/** Keys that a careless reader trips over: names of Object.prototype, pointers, control characters, fields that rules read. */
const KEYS = [
  '__proto__',
  'constructor',
  'prototype',
  'toString',
  'hasOwnProperty',
  'length',
  '',
  '/',
  '~1',
  '-',
  '0',
  'a\nb',
  '\u0000',
  '\u2028',
  'metadata',
  'annotations',
  'labels',
  'ownerReferences',
  'controller',
  'spec',
  'template',
  'jobTemplate',
  'containers',
  'initContainers',
  'ephemeralContainers',
  'name',
  'resources',
  'limits',
  'requests',
  'claims',
  'env',
  'value',
  'valueFrom',
  'nodeSelector',
  'affinity',
  'nodeAffinity',
  'requiredDuringSchedulingIgnoredDuringExecution',
  'nodeSelectorTerms',
  'matchExpressions',
  'key',
  'values',
  'operator',
  'nvidia.com/gpu',
  'nvidia.com/mig-__proto__',
  'gpugate.dev/original',
  'gpugate.dev/policy',
  'gpugate.dev/memory-cap',
  'gpugate.dev/mig-profile',
  'gpugate.dev/min-memory',
  'gpugate.dev/visible-devices',
  'kubectl.kubernetes.io/last-applied-configuration',
] as const;

const huge = fc.constantFrom('a', ',', '1', '[', '\n', '\u{1f980}', '\ud800', '1g.').map((text) => text.repeat(5000));
const deep = fc
  .tuple(fc.constantFrom('[', '{"spec":', '{"__proto__":'), fc.constantFrom(10, 200))
  .map(
    ([open, depth]) => JSON.parse(`${open.repeat(depth)}null${(open === '[' ? ']' : '}').repeat(depth)}`) as unknown,
  );

/** Text with everything in it: control characters, lone surrogates, line separators, kubectl's colours. */
export const anyText = fc.oneof(
  { weight: 6, arbitrary: fc.string({ unit: 'binary', maxLength: 12 }) },
  { weight: 2, arbitrary: fc.constantFrom(...KEYS) },
  {
    weight: 2,
    arbitrary: fc.constantFrom('a"\n - GPU001 fake', '\u001b[31m', '\r', '\u2028', '\u202e', '\u0085', '\ufeff'),
  },
  { weight: 1, arbitrary: huge },
);

const key = fc.oneof({ weight: 9, arbitrary: fc.constantFrom(...KEYS) }, { weight: 1, arbitrary: anyText });

/** A value as JSON.parse makes it: `__proto__` is a plain key of it. */
function parsed(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value) ?? 'null');
}

/** An object from entries, with `__proto__` as an own key, as JSON.parse does it. */
export function objectOf(entries: readonly (readonly [string, unknown])[]): Record<string, unknown> {
  return Object.fromEntries(entries);
}

/** Any JSON, much of it in the shape of what is reviewed. */
export const anyJson: fc.Arbitrary<unknown> = fc.oneof(
  { weight: 8, arbitrary: fc.letrec<{ json: unknown }>((tie) => ({ json: jsonOf(tie('json')) })).json },
  { weight: 1, arbitrary: fc.jsonValue({ maxDepth: 4 }).map(parsed) },
  { weight: 1, arbitrary: deep },
);

function jsonOf(inner: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> {
  return fc.oneof(
    { maxDepth: 5, depthSize: 'small' },
    fc.oneof(fc.constant(null), fc.boolean(), fc.integer(), fc.constantFrom(-0, 1e21, 0.5, 2 ** 63), anyText),
    fc.array(fc.tuple(key, inner), { maxLength: 5 }).map(objectOf),
    fc.array(inner, { maxLength: 4 }),
  );
}
