import { parseQuantity } from '../admission/quantity.ts';
import type { CapAmount } from './policy.ts';

/** Caps below this are refused: 0 means "off" to some frameworks, and a CUDA context alone takes hundreds of MiB. */
export const SMALLEST_CAP_MIB = 256;

const MIB_IN_NANO = (1n << 20n) * 1_000_000_000n;
const PERCENT = /^(\d{1,3})(?:\.(\d{1,3}))?%$/;

/** A quantity of memory in whole MiB, rounded down; undefined when it is no quantity, negative, or beyond 2^31 MiB. */
export function mebibytes(text: string): number | undefined {
  const quantity = parseQuantity(text);
  if (!quantity || quantity.nano < 0n) return undefined;
  const mib = quantity.nano / MIB_IN_NANO;
  return mib < 1n << 31n ? Number(mib) : undefined;
}

/** `auto`, a quantity, a percentage, or 0 for no cap; a string says what is wrong with the text. */
export function capAmount(text: string): CapAmount | string {
  if (text === 'auto') return { kind: 'auto' };
  const percent = PERCENT.exec(text);
  if (percent) {
    const milliPercent = Number(percent[1]) * 1000 + Number((percent[2] ?? '').padEnd(3, '0'));
    if (milliPercent < 100 || milliPercent > 100_000) return 'is not between 0.1% and 100%';
    return { kind: 'percent', milliPercent, text };
  }
  const mib = mebibytes(text);
  if (mib === undefined) return 'is not auto, a quantity such as 8Gi, or a percentage such as 25%';
  if (parseQuantity(text)?.nano === 0n) return { kind: 'off' };
  if (mib < SMALLEST_CAP_MIB) return `is less than ${SMALLEST_CAP_MIB}Mi, which no GPU program can start in`;
  return { kind: 'mib', mib, text };
}
