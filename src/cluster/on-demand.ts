import type { ApiClient } from './client.ts';
import type { WatchState } from './source.ts';
import { startWatch, type Watch, type WatchOptions } from './watch.ts';

/** A resource that only some policies need: it is watched from the first time that it is asked for. */
export interface OnDemand<T> {
  /** What is in memory; undefined until the first list has come, or for as long as it may not be read. */
  values(): readonly T[] | undefined;
  states(): readonly WatchState[];
  close(): Promise<void>;
}

/** Watches nothing yet. A resource that the API server lacks or forbids is tried again with back-off, and stays unknown. */
export function onDemand<T>(client: ApiClient, options: Omit<WatchOptions<T>, 'onChange'>): OnDemand<T> {
  let watch: Watch<T> | undefined;
  let kept: readonly T[] | undefined;
  const onChange = () => {
    kept = undefined;
  };
  return {
    values() {
      watch ??= startWatch(client, { ...options, onChange });
      if (!watch.state().synced) return undefined;
      kept ??= Object.freeze(watch.values());
      return kept;
    },
    states: () => (watch ? [watch.state()] : []),
    close: async () => watch?.close(),
  };
}
