/** How often to look, and who is told of what went wrong. */
export interface LookOptions {
  /** Two looks in a row failed; once for as long as they fail in the same way. */
  onFault(error: Error): void;
  /** Between two looks, in milliseconds. */
  readonly intervalMs?: number;
}

const LOOK_EVERY_MS = 2000;

/**
 * Looks every couple of seconds at what files hold, since neither times nor inotify show the kubelet's swap of the `..data` link
 * reliably. No look begins while another is under way. A fault is told when it has lasted from one of these looks to the next:
 * what is read amid a change mends itself. `lookNow`, for those that hear of a change, looks in between and tells none.
 */
export function lookAgainAndAgain(
  look: () => Promise<void>,
  { onFault, intervalMs = LOOK_EVERY_MS }: LookOptions,
): { readonly lookNow: () => void; readonly stop: () => void } {
  let failed = false;
  let told: string | undefined;
  let looking = false;

  async function tryLook(onFailure: (error: Error) => void): Promise<void> {
    if (looking) return;
    looking = true;
    try {
      await look();
      failed = false;
      told = undefined;
    } catch (error) {
      onFailure(error as Error);
    } finally {
      looking = false;
    }
  }

  function failedByTime(error: Error): void {
    if (failed && error.message !== told) {
      told = error.message;
      onFault(error);
    }
    failed = true;
  }

  const timer = setInterval(() => tryLook(failedByTime), intervalMs).unref();
  return { lookNow: () => tryLook(() => undefined), stop: () => clearInterval(timer) };
}
