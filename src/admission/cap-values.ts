import type { CapVariable, Measure } from '../policy/cap-variables.ts';
import type { CapSize } from './cap-size.ts';
import { parseQuantity } from './quantity.ts';

/** How a value that stands in a pod compares with a cap. `unreadable`: not of the variable's syntax, so it bounds nothing. */
export type Standing = 'within' | 'looser' | 'unreadable';

const MIB = 1n << 20n;
const THOUSANDTH = 1_000_000n;
const ALLOCATOR_KEY = 'per_process_memory_fraction';

/** The variable's value for a cap; undefined when the cap has no figure in its measure. `current` is the user's own value. */
export function capValue(variable: CapVariable, cap: CapSize, units: number, current?: string): string | undefined {
  const { mib, thousandths } = cap;
  switch (variable.measure) {
    case 'mib':
      return mib === undefined ? undefined : String(mib);
    case 'bytes':
      return mib === undefined ? undefined : String(BigInt(mib) * MIB);
    case 'suffixed':
      return mib === undefined ? undefined : `${mib}m`;
    case 'devices':
      return mib === undefined
        ? undefined
        : Array.from({ length: units }, (_, ordinal) => `${ordinal}=${mib}M`).join(',');
    case 'fraction':
      return thousandths === undefined ? undefined : decimalThousandths(thousandths);
    case 'allocator':
      return thousandths === undefined ? undefined : withAllocatorKey(current ?? '', decimalThousandths(thousandths));
    case 'flag':
      return 'true';
  }
}

/** Whether a value that stands in the pod keeps within the cap. A cap without a figure in the measure lets any readable value stand. */
export function standing(measure: Measure, value: string, cap: CapSize, units: number): Standing {
  switch (measure) {
    case 'mib':
      return within(digits(value), cap.mib, 1n);
    case 'suffixed':
      return within(suffixedBytes(value), cap.mib, MIB);
    case 'bytes':
      return value.endsWith('%') ? percentage(value.slice(0, -1), cap) : within(digits(value), cap.mib, MIB);
    case 'fraction':
      return fractionWithin(value, cap.thousandths);
    case 'allocator': {
      const own = allocatorFraction(value);
      return own === undefined ? 'unreadable' : fractionWithin(own, cap.thousandths);
    }
    case 'devices':
      return devicesWithin(value, cap.mib, units);
    case 'flag':
      return value === 'true' ? 'within' : 'looser';
  }
}

/** Zero means "no limit" to every program that takes an amount. */
function within(amount: bigint | undefined, mib: number | undefined, unit: bigint): Standing {
  if (amount === undefined) return 'unreadable';
  if (amount === 0n) return 'looser';
  return mib !== undefined && amount > BigInt(mib) * unit ? 'looser' : 'within';
}

function digits(value: string): bigint | undefined {
  return /^\d{1,30}$/.test(value) ? BigInt(value) : undefined;
}

const SUFFIX: Readonly<Record<string, bigint>> = { '': 1n, k: 1n << 10n, m: 1n << 20n, g: 1n << 30n };

/** HAMi-core reads digits and one letter; `1Gi` is one byte to it, so two letters are unreadable here. */
function suffixedBytes(value: string): bigint | undefined {
  const parts = /^(\d{1,30})([kmgKMG]?)$/.exec(value);
  return parts ? BigInt(parts[1] ?? '') * (SUFFIX[(parts[2] ?? '').toLowerCase()] ?? 1n) : undefined;
}

const FLOAT = /^(\d+(?:\.\d*)?|\.\d+)([eE][+-]?\d{1,3})?$/;

function fractionWithin(value: string, thousandths: number | undefined): Standing {
  const own = FLOAT.test(value) ? parseQuantity(value) : undefined;
  if (!own) return 'unreadable';
  return own.nano > BigInt(thousandths ?? 1000) * THOUSANDTH ? 'looser' : 'within';
}

function percentage(value: string, cap: CapSize): Standing {
  const own = FLOAT.test(value) ? parseQuantity(value) : undefined;
  if (!own) return 'unreadable';
  // CuPy computes the bytes, and none means no limit.
  if (own.nano < THOUSANDTH) return 'looser';
  // A percentage can't be compared with an amount while the memory of the GPU is not known.
  if (cap.thousandths === undefined && cap.mib !== undefined) return 'looser';
  return own.nano > BigInt(cap.thousandths ?? 1000) * THOUSANDTH * 100n ? 'looser' : 'within';
}

function devicesWithin(value: string, mib: number | undefined, units: number): Standing {
  const limits = new Map<string, bigint>();
  for (const item of value.split(',')) {
    const parts = /^(\d{1,3})=(\d{1,30})([GMK])?$/.exec(item.trim());
    if (!parts || limits.has(parts[1] ?? '')) return 'unreadable';
    limits.set(parts[1] ?? '', BigInt(parts[2] ?? '') * (SUFFIX[(parts[3] ?? '').toLowerCase()] ?? 1n));
  }
  for (let ordinal = 0; ordinal < units; ordinal++) {
    if (within(limits.get(String(ordinal)) ?? 0n, mib, MIB) !== 'within') return 'looser';
  }
  return 'within';
}

/** The fraction in PyTorch's `key:value,key:value`; the last one counts. */
function allocatorFraction(conf: string): string | undefined {
  const prefix = `${ALLOCATOR_KEY}:`;
  // Another variable that is expanded behind it may hold the key again.
  const item = allocatorItems(conf).findLast((candidate) => candidate.startsWith(prefix) || candidate.includes('$('));
  return item?.startsWith(prefix) ? item.slice(prefix.length) : undefined;
}

function withAllocatorKey(conf: string, fraction: string): string {
  const others = allocatorItems(conf).filter((item) => !item.startsWith(`${ALLOCATOR_KEY}:`));
  return [...others, `${ALLOCATOR_KEY}:${fraction}`].join(',');
}

/** Items are parted by commas outside of brackets: `roundup_power2_divisions:[256:1,512:2]` is one. PyTorch reads past spaces. */
function allocatorItems(conf: string): readonly string[] {
  const items: string[] = [];
  let end = conf.length;
  let bracketed = false;
  // From the back, since only a closing bracket makes an opening one count.
  for (let at = conf.length - 1; at >= -1; at--) {
    const character = conf[at];
    if (character === ']') bracketed = true;
    else if (character === '[') bracketed = false;
    else if (at < 0 || (character === ',' && !bracketed)) {
      items.push(conf.slice(at + 1, end).replaceAll(' ', ''));
      end = at;
    }
  }
  return items.reverse().filter((item) => item !== '');
}

function decimalThousandths(thousandths: number): string {
  return (thousandths / 1000).toFixed(3).replace(/0+$/, '').replace(/\.$/, '');
}
