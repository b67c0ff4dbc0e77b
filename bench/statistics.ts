/** The middle of some numbers, and how far they lie apart. */
export interface Spread {
  readonly median: number;
  readonly lowest: number;
  readonly highest: number;
}

/** @throws RangeError for no values. */
export function spread(values: readonly number[]): Spread {
  const sorted = values.toSorted((a, b) => a - b);
  return { median: percentile(sorted, 50), lowest: percentile(sorted, 0), highest: percentile(sorted, 100) };
}

/** A percentile of sorted numbers, between two of them in proportion. */
export function percentile(sorted: readonly number[], percent: number): number {
  const at = ((sorted.length - 1) * percent) / 100;
  const [below, above] = [sorted[Math.floor(at)], sorted[Math.ceil(at)]];
  if (below === undefined || above === undefined) throw new RangeError('no values');
  return below + (above - below) * (at - Math.floor(at));
}
