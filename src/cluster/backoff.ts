/** How long to wait before the next try. */
export interface Backoff {
  readonly firstMs: number;
  readonly maxMs: number;
}

/** A blip costs a tenth of a second; an API server that is down for long is asked every 5 to 10 s by each replica. */
export const DEFAULT_BACKOFF: Backoff = { firstMs: 100, maxMs: 10_000 };

/** Even an API server that asks for more is tried again after this time. */
const LONGEST_RETRY_AFTER_MS = 60_000;

/**
 * Delay after the n-th failure in a row (n from 1), in milliseconds: doubled each time up to `maxMs`, of which a random
 * part of up to one half is taken off so that replicas don't come all at once; never less than the server asked for.
 */
export function delayAfter(failures: number, { firstMs, maxMs }: Backoff, retryAfterMs = 0): number {
  const full = Math.min(maxMs, firstMs * 2 ** (failures - 1));
  return Math.max(full * (1 - Math.random() / 2), Math.min(retryAfterMs, LONGEST_RETRY_AFTER_MS));
}
