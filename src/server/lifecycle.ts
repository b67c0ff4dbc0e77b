/** Where the process stands. Plain and mutable: one writer (the signals), many readers. */
export interface Lifecycle {
  /** Going away, but still serving: unready, and every answer closes its connection. */
  draining: boolean;
  /** Why the process can't be trusted any more, if so. */
  failure: string | undefined;
}

/** A process that serves. */
export function createLifecycle(): Lifecycle {
  return { draining: false, failure: undefined };
}
