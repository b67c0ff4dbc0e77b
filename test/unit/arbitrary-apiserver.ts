import { gpuResource } from '../../src/policy/resources.ts';
import { EXTRA_GPU } from './arbitrary-world.ts';

/**
 * What the API server makes of a pod, written from its source and apart from src/admission: which JSON it decodes, and
 * what its validation says of GPU counts. Held against the real decoder and validation of k8s.io/kubernetes v1.37.2 (a Go
 * program over the same generators) when it was written.
 */

type Json = Readonly<Record<string, unknown>>;

const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const isAbsent = (value: unknown) => value === undefined || value === null;

/** Why the API server can't decode a pod, as paths; a null is a zero value everywhere. */
export function decodeProblems(pod: unknown): readonly string[] {
  const problems: string[] = [];
  const wrong = (path: string) => void problems.push(path);
  const text = (value: unknown, path: string) => {
    if (!isAbsent(value) && typeof value !== 'string') wrong(path);
  };
  const object = (value: unknown, path: string, read: (object: Json) => void) => {
    if (isObject(value)) read(value);
    else if (!isAbsent(value)) wrong(path);
  };
  const list = (value: unknown, path: string, read: (item: unknown, path: string) => void) => {
    if (Array.isArray(value)) for (const [index, item] of value.entries()) read(item, `${path}[${index}]`);
    else if (!isAbsent(value)) wrong(path);
  };
  const map = (value: unknown, path: string, read: (item: unknown, path: string) => void) =>
    object(value, path, (entries) => {
      for (const [key, item] of Object.entries(entries)) read(item, `${path}[${key}]`);
    });
  const quantities = (value: unknown, path: string) =>
    map(value, path, (item, at) => {
      if (!isAbsent(item) && !goQuantity(item)) wrong(at);
    });
  const env = (value: unknown, path: string) =>
    object(value, path, (entry) => {
      text(entry.name, `${path}.name`);
      text(entry.value, `${path}.value`);
      object(entry.valueFrom, `${path}.valueFrom`, () => undefined);
    });
  const container = (value: unknown, path: string) =>
    object(value, path, (item) => {
      for (const key of ['name', 'image', 'restartPolicy']) text(item[key], `${path}.${key}`);
      list(item.args, `${path}.args`, text);
      list(item.env, `${path}.env`, env);
      object(item.resources, `${path}.resources`, ({ limits, requests, claims }) => {
        quantities(limits, `${path}.limits`);
        quantities(requests, `${path}.requests`);
        list(claims, `${path}.claims`, (claim, at) => object(claim, at, ({ name }) => text(name, `${at}.name`)));
      });
    });
  const requirement = (value: unknown, path: string) =>
    object(value, path, ({ key, operator, values }) => {
      text(key, `${path}.key`);
      text(operator, `${path}.operator`);
      list(values, `${path}.values`, text);
    });

  object(pod, 'pod', ({ metadata, spec }) => {
    object(metadata, 'metadata', ({ name, annotations, labels }) => {
      text(name, 'metadata.name');
      map(annotations, 'annotations', text);
      map(labels, 'labels', text);
    });
    object(spec, 'spec', ({ containers, initContainers, ephemeralContainers, affinity, tolerations, ...rest }) => {
      for (const key of ['schedulerName', 'nodeName']) text(rest[key], key);
      map(rest.nodeSelector, 'nodeSelector', text);
      list(containers, 'containers', container);
      list(initContainers, 'initContainers', container);
      list(ephemeralContainers, 'ephemeralContainers', container);
      list(tolerations, 'tolerations', (value, path) =>
        object(value, path, (toleration) => {
          for (const key of ['key', 'operator', 'value', 'effect']) text(toleration[key], `${path}.${key}`);
        }),
      );
      object(affinity, 'affinity', ({ nodeAffinity }) =>
        object(nodeAffinity, 'nodeAffinity', ({ requiredDuringSchedulingIgnoredDuringExecution: required }) =>
          object(required, 'required', ({ nodeSelectorTerms }) =>
            list(nodeSelectorTerms, 'terms', (value, path) =>
              object(value, path, ({ matchExpressions, matchFields }) => {
                list(matchExpressions, `${path}.matchExpressions`, requirement);
                list(matchFields, `${path}.matchFields`, requirement);
              }),
            ),
          ),
        ),
      );
    });
  });
  return problems;
}

/**
 * A quantity as apimachinery holds it: `unscaled * 10^scale`, in 64 bits where the fast path took it (`wide` otherwise:
 * their arithmetic overflows in different ways).
 */
interface GoQuantity {
  readonly unscaled: bigint;
  readonly scale: number;
  readonly wide: boolean;
}

type Power = readonly [base: number, exponent: number];

const SUFFIXES: ReadonlyMap<string, Power> = new Map([
  ...['n', 'u', 'm', '', 'k', 'M', 'G', 'T', 'P', 'E'].map((name, index): [string, Power] => [
    name,
    [10, index * 3 - 9],
  ]),
  ...['Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei'].map((name, index): [string, Power] => [name, [2, index * 10 + 10]]),
]);
const MAX_INT64 = (1n << 63n) - 1n;
const fits = (value: bigint) => BigInt.asIntN(64, value) === value;
const int64 = (value: bigint) => BigInt.asIntN(64, value);
/** Go's `strings.TrimSpace`, of the bytes between the quotes of the JSON text: an escaped character is no space there. */
const SPACE =
  /^[ \u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+|[ \u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+$/g;

/** ParseQuantity (pkg/api/resource/quantity.go) of a JSON value; undefined when it is refused. */
function goQuantity(value: unknown): GoQuantity | undefined {
  if (value === null) return { unscaled: 0n, scale: 0, wide: false };
  if (typeof value !== 'string' && typeof value !== 'number') return undefined;
  const parts = /^([+-]?)([0-9]*)(?:\.([0-9]*))?([eEinumkKMGTP]*[+-]?[0-9]*)$/.exec(String(value).replace(SPACE, ''));
  if (!parts || parts[0] === '') return undefined;
  const [, sign, digits = '', denominator = '', suffix = ''] = parts;
  const hasPoint = parts[0].includes('.');
  const numerator = digits.replace(/^0+/, '') || '0';
  // A number that ends within its leading zeros is 0, "+" and "" of a bare sign included.
  if (numerator === '0' && !hasPoint && suffix === '') return { unscaled: 0n, scale: 0, wide: false };
  const exponential = /^[eE]([+-]?[0-9]+)$/.exec(suffix);
  const [base, exponent] = SUFFIXES.get(suffix) ?? (exponential ? [10, Number(exponential[1])] : []);
  if (base === undefined || exponent === undefined) return undefined;
  const negate = (amount: bigint) => (sign === '-' ? -amount : amount);

  const mantissa = base === 2 ? 1n << BigInt(exponent) : 1n;
  const short = numerator.length + denominator.length;
  const precision =
    base === 10 ? 18 - short : denominator === '' ? 15 - numerator.length - Math.trunc((exponent * 3) / 10) - 1 : -1;
  const scale = (base === 10 ? exponent : 0) - denominator.length;
  if (precision >= 0 && scale >= -9) {
    const product = BigInt(numerator + denominator) * mantissa;
    if (fits(product)) return { unscaled: negate(product), scale, wide: false };
  }
  if (digits === '' && denominator === '') return undefined;
  const unscaled = BigInt(`${digits}${denominator}`) * mantissa;
  const nano =
    unscaled === 0n || scale >= -9 ? { unscaled, scale } : { unscaled: dividedUp(unscaled, -9 - scale), scale: -9 };
  const capped = base === 2 && compared({ ...nano, wide: true }, { unscaled: MAX_INT64, scale: 0, wide: true }) > 0;
  const result = capped ? { unscaled: MAX_INT64, scale: 0 } : nano;
  return { unscaled: negate(result.unscaled), scale: result.scale, wide: true };
}

function dividedUp(value: bigint, digits: number): bigint {
  const divisor = 10n ** BigInt(digits);
  const magnitude = value < 0n ? -value : value;
  const result = (magnitude + divisor - 1n) / divisor;
  return value < 0n ? -result : result;
}

/** SetDefaults_ResourceList: every value is rounded away from zero to milli when a typed object is decoded. */
function decoded(quantity: GoQuantity): GoQuantity {
  if (quantity.scale >= -3) return quantity;
  return { ...quantity, unscaled: dividedUp(quantity.unscaled, -3 - quantity.scale), scale: -3 };
}

function compared(a: GoQuantity, b: GoQuantity): number {
  const scale = Math.min(a.scale, b.scale);
  const [left, right] = [a, b].map((q) => q.unscaled * 10n ** BigInt(q.scale - scale)) as [bigint, bigint];
  return left < right ? -1 : left > right ? 1 : 0;
}

/** MilliValue, overflow included: some powers of ten wrap around (math.go, positiveScaleInt64), the others give 0. */
function milliValue({ unscaled, scale, wide }: GoQuantity): bigint {
  const up = scale + 3;
  if (!wide) {
    const exact = unscaled * 10n ** BigInt(up);
    return fits(exact) || [1, 2, 3, 6, 9].includes(up) ? int64(exact) : 0n;
  }
  if (up === 0) return int64(unscaled);
  // math.Pow10 as an int64 saturates on amd64 to the smallest number.
  const power = up > 18 ? -(1n << 63n) : 10n ** BigInt(up);
  return int64(int64(unscaled) * power);
}

/**
 * What decoding, defaulting (requests from limits) and validation of k8s.io/kubernetes say of the GPUs of one pod:
 * `undecodable`, or whether its counts are refused.
 */
export function apiServerOnGpus(pod: unknown): 'undecodable' | 'refused' | 'accepted' {
  if (decodeProblems(pod).length > 0) return 'undecodable';
  const { spec } = pod as {
    spec: { containers: { resources?: { limits?: Json | null; requests?: Json | null } | null }[] };
  };
  const refused = spec.containers.some(({ resources }) => {
    const limits = gpuQuantities(resources?.limits);
    const requests = new Map([...limits, ...gpuQuantities(resources?.requests)]);
    const unsound = (quantity: GoQuantity) => quantity.unscaled < 0n || milliValue(quantity) % 1000n !== 0n;
    return (
      [...limits.values(), ...requests.values()].some(unsound) ||
      [...requests].some(([name, quantity]) => {
        const limit = limits.get(name);
        return limit === undefined || compared(quantity, limit) !== 0;
      })
    );
  });
  return refused ? 'refused' : 'accepted';
}

function gpuQuantities(list: Json | null | undefined): ReadonlyMap<string, GoQuantity> {
  return new Map(
    Object.entries(list ?? {}).flatMap(([name, value]): [string, GoQuantity][] => {
      const quantity = gpuResource(name, [EXTRA_GPU]) ? goQuantity(value) : undefined;
      return quantity ? [[name, decoded(quantity)]] : [];
    }),
  );
}

/** Why gpugate may judge the GPUs of a pod otherwise than the API server (docs/quantities.md). */
export type Exception = 'below a milli' | 'beyond 64 bits' | 'null';

export function exceptionsOf(pod: unknown): ReadonlySet<Exception> {
  const { spec } = pod as { spec: { containers: { resources?: { limits?: Json; requests?: Json } }[] } };
  const found = new Set<Exception>();
  for (const { resources } of spec.containers) {
    for (const [name, value] of [
      ...Object.entries(resources?.limits ?? {}),
      ...Object.entries(resources?.requests ?? {}),
    ]) {
      if (!gpuResource(name, [EXTRA_GPU])) continue;
      if (value === null) found.add('null');
      const quantity = goQuantity(value);
      if (!quantity) continue;
      if (compared(quantity, decoded(quantity)) !== 0) found.add('below a milli');
      const milli = decoded(quantity);
      if (!fits(milli.unscaled * 10n ** BigInt(Math.max(0, milli.scale + 3)))) found.add('beyond 64 bits');
    }
  }
  return found;
}
