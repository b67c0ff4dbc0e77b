/** How long things of our own certificates last, in milliseconds; all of it follows from the life of a leaf. */
export interface Terms {
  readonly leafMs: number;
  readonly authorityMs: number;
  /** Certificates hold from this long before they were made, since a clock may be late. */
  readonly backDateMs: number;
  /** A certificate is renewed once less than this part of its life is left: at two thirds of it. */
  readonly renewAt: number;
  /** Every configuration has trusted a new CA for this long before a leaf of it is served. */
  readonly settleMs: number;
  /** The old CA stays trusted for this long after the first leaf of the new one. */
  readonly overlapMs: number;
  /** Between two looks at the clock. */
  readonly lookMs: number;
}

const SECOND = 1000;
const HOUR = 3600 * SECOND;

/** 90 days of a leaf make almost ten years of a CA. */
const LEAVES_OF_A_CA = 40;

/**
 * The terms for leaves of a given life. The short lives that tests use shorten everything else as well.
 * API servers learn of a changed configuration by a watch, within a second or so; a replica learns of a new leaf in the
 * same way. Half a minute and a day leave room for one that is cut off.
 */
export function termsFor(leafMs: number): Terms {
  return {
    leafMs,
    authorityMs: leafMs * LEAVES_OF_A_CA,
    backDateMs: Math.min(HOUR, leafMs / 3),
    renewAt: 1 / 3,
    settleMs: Math.min(30 * SECOND, leafMs / 10),
    overlapMs: Math.min(24 * HOUR, leafMs / 2),
    lookMs: Math.min(60 * SECOND, leafMs / 20),
  };
}
