import { setTimeout as sleep } from 'node:timers/promises';

/** Shorter than the 2 s that the API server gives to a mutating call. */
const WAIT_MS = 1500;

/** What has not been listed by then won't be in a moment, and waiting would only add to the time of every creation. */
const START_MS = 20_000;

const LOOK_EVERY_MS = 10;

/**
 * Lets a review wait while a process that has just started reads its first lists, up to 1.5 s. A container that crashed is started again
 * at once, and calls reach it before its endpoint is taken away: to refuse them, or to judge without the nodes, would
 * be wrong a moment later.
 */
export function waitForFirstLists(synced: () => boolean): () => Promise<void> {
  const started = performance.now();
  let over = false;
  return async () => {
    const until = performance.now() + WAIT_MS;
    while (!over) {
      const now = performance.now();
      over = synced() || now - started > START_MS;
      if (over || now > until) return;
      await sleep(LOOK_EVERY_MS);
    }
  };
}
