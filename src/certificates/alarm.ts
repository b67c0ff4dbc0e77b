import { setTimeout as sleep } from 'node:timers/promises';

/** A sleep that can be cut short. */
export interface Alarm {
  /** Ends the sleep, or the next one while nobody sleeps. */
  ring(): void;
  /** Sleeps for a time in milliseconds, until it rings, or until the signal is aborted. */
  sleep(ms: number, signal: AbortSignal): Promise<void>;
}

export function createAlarm(): Alarm {
  let rung = new AbortController();
  return {
    ring: () => rung.abort(),
    async sleep(ms, signal) {
      await sleep(ms, undefined, { signal: AbortSignal.any([signal, rung.signal]) }).catch(() => {});
      rung = new AbortController();
    },
  };
}
