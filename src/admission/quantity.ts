/**
 * A Kubernetes quantity with its exact value, as k8s.io/apimachinery v0.37.2 pkg/api/resource/quantity.go reads it.
 * `nano` is the value times 10^9; like the Go parser, anything finer is rounded away from zero. `text` is the spelling as found.
 */
export interface Quantity {
  readonly text: string;
  readonly nano: bigint;
}

const NANO = 1_000_000_000n;
const MILLI = 1_000_000n;
/** quantity.go caps binary-suffix values at the largest int64. */
const MAX_BINARY = ((1n << 63n) - 1n) * NANO;
/**
 * Values past 10^±1000 are not computed: `1e2147483648` would need gigabytes of digits. They stand for "larger than any
 * machine" and "larger than nothing", which is all that a GPU count needs (docs/quantities.md lists the difference).
 */
const LONGEST = 1000;

const DECIMAL_SUFFIX: Readonly<Record<string, number>> = {
  n: -9,
  u: -6,
  m: -3,
  '': 0,
  k: 3,
  M: 6,
  G: 9,
  T: 12,
  P: 15,
  E: 18,
};
const BINARY_SUFFIX: Readonly<Record<string, number>> = { Ki: 10, Mi: 20, Gi: 30, Ti: 40, Pi: 50, Ei: 60 };
const GRAMMAR = /^([+-]?)(\d*)(?:\.(\d*))?((?:[eEinumkKMGTP]+[+-]?\d*)?)$/;
const EXPONENT = /^[eE]([+-]?\d+)$/;

/** Reads one quantity; undefined when the API server would refuse to decode it. Never throws, whatever the input. */
export function parseQuantity(text: string): Quantity | undefined {
  if (text === '') return undefined;
  const parts = GRAMMAR.exec(text);
  if (!parts) return undefined;
  const [, sign = '', whole = '', fraction = '', suffix = ''] = parts;
  const hasDigits = whole !== '' || fraction !== '';
  const negative = sign === '-';

  const power = suffixPower(suffix);
  if (!power) return undefined;
  // The Go parser reads a value without digits as 0 on its fast path only.
  if (!hasDigits && (power.base === 10 ? power.exponent < -9 : power.exponent > 40)) return undefined;

  const magnitude = hasDigits ? scaled(whole, fraction, power) : 0n;
  return { text, nano: negative ? -magnitude : magnitude };
}

/** What strings.TrimSpace trims and can stand in a JSON string as it is; JavaScript's own trim differs in U+0085 and U+FEFF. */
const SPACES =
  /^[ \u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+|[ \u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+$/g;

/** The quantity of a JSON value as Quantity.UnmarshalJSON takes it: strings (spaces around trimmed) and bare numbers. */
export function quantityFromJson(value: unknown): Quantity | undefined {
  if (typeof value === 'number') return parseQuantity(String(value));
  if (typeof value !== 'string') return undefined;
  return parseQuantity(value.replace(SPACES, ''));
}

export function compareQuantities(a: Quantity, b: Quantity): -1 | 0 | 1 {
  return a.nano < b.nano ? -1 : a.nano > b.nano ? 1 : 0;
}

export function isWhole(q: Quantity): boolean {
  return q.nano % NANO === 0n;
}

/** The whole part, rounded towards zero. */
export function wholeUnits(q: Quantity): bigint {
  return q.nano / NANO;
}

/** The decimal spelling of the exact value: `0.5` for `500m`. */
export function decimal(q: Quantity): string {
  const magnitude = q.nano < 0n ? -q.nano : q.nano;
  const fraction = (magnitude % NANO).toString().padStart(9, '0').replace(/0+$/, '');
  return `${q.nano < 0n ? '-' : ''}${magnitude / NANO}${fraction ? `.${fraction}` : ''}`;
}

/** Rounded away from zero to milli, as SetDefaults_ResourceList (k8s.io/kubernetes pkg/apis/core/v1/defaults.go) does at decode. */
export function roundedToMilli(q: Quantity): bigint {
  const quotient = q.nano / MILLI;
  if (q.nano % MILLI === 0n) return quotient;
  return q.nano > 0n ? quotient + 1n : quotient - 1n;
}

type Power = { readonly base: 10 | 2; readonly exponent: number };

function suffixPower(suffix: string): Power | undefined {
  const decimalPower = DECIMAL_SUFFIX[suffix];
  if (decimalPower !== undefined) return { base: 10, exponent: decimalPower };
  const binaryPower = BINARY_SUFFIX[suffix];
  if (binaryPower !== undefined) return { base: 2, exponent: binaryPower };
  const exponent = EXPONENT.exec(suffix)?.[1];
  if (exponent === undefined || exponent.length > 20 || !fitsInt64(BigInt(exponent))) return undefined;
  // The Go parser cuts the exponent to an int32, so that 1e4294967296 is 1.
  return { base: 10, exponent: Number(BigInt.asIntN(32, BigInt(exponent))) };
}

function fitsInt64(value: bigint): boolean {
  return BigInt.asIntN(64, value) === value;
}

/** |value| in nano, rounded away from zero. */
function scaled(whole: string, fraction: string, power: Power): bigint {
  // As nearly every count of GPUs is written.
  if (fraction === '' && power.base === 10 && power.exponent === 0 && whole.length < 10) return BigInt(whole) * NANO;
  const digits = `${whole}${fraction}`.replace(/^0+/, '');
  if (digits === '') return 0n;
  const tens = 9 - fraction.length + (power.base === 10 ? power.exponent : 0);
  if (digits.length + tens > LONGEST) return power.base === 2 ? MAX_BINARY : 10n ** BigInt(LONGEST);
  if (digits.length > 2 * LONGEST || tens < -LONGEST) return scaledLong(digits, tens, power);
  const value = BigInt(digits) * (power.base === 2 ? 1n << BigInt(power.exponent) : 1n);
  const nano = tens >= 0 ? value * 10n ** BigInt(tens) : dividedUp(value, 10n ** BigInt(-tens));
  return power.base === 2 && nano > MAX_BINARY ? MAX_BINARY : nano;
}

/** A tail of more than a thousand digits after the point only decides whether the last nano is rounded up. */
function scaledLong(digits: string, tens: number, power: Power): bigint {
  const kept = Math.max(0, digits.length + tens) + 30;
  const head = digits.slice(0, kept);
  const dropped = digits.length - head.length;
  const sticky = /[1-9]/.test(digits.slice(kept)) ? '1' : '0';
  const shift = tens + dropped - 1;
  const value = BigInt(`${head}${sticky}`) * (power.base === 2 ? 1n << BigInt(power.exponent) : 1n);
  if (shift >= 0) return value * 10n ** BigInt(shift);
  return shift < -LONGEST ? 1n : dividedUp(value, 10n ** BigInt(-shift));
}

function dividedUp(a: bigint, b: bigint): bigint {
  return a % b === 0n ? a / b : a / b + 1n;
}
