/** How often to look, and who is told of what went wrong. */
export interface LookOptions {
  /** A look failed; once for as long as it fails in the same way. */
  onFault(error: Error): void;
  /** Between two looks, in milliseconds. */
  readonly intervalMs?: number;
}

const LOOK_EVERY_MS = 2000;

/**
 * Looks every couple of seconds at what files hold, since neither times nor inotify show the kubelet's swap of the `..data` link
 * reliably. No look begins while another is under way.
 */
export function lookAgainAndAgain(
  look: () => Promise<void>,
  { onFault, intervalMs = LOOK_EVERY_MS }: LookOptions,
): { readonly lookNow: () => void; readonly stop: () => void } {
  let fault: string | undefined;
  let looking = false;

  async function lookNow(): Promise<void> {
    if (looking) return;
    looking = true;
    try {
      await look();
      fault = undefined;
    } catch (error) {
      const { message } = error as Error;
      if (message !== fault) onFault(error as Error);
      fault = message;
    } finally {
      looking = false;
    }
  }

  const timer = setInterval(lookNow, intervalMs).unref();
  return { lookNow, stop: () => clearInterval(timer) };
}
