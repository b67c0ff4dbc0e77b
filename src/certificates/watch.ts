import { watch } from 'node:fs';
import type { Pair, PairText } from './pair.ts';
import { checkPair, readPair } from './pair.ts';

/** Who is told of what became of the files. */
export interface WatchOptions {
  /** The pair that is served now. */
  readonly pair: Pair;
  /** Another good pair lies there. */
  onPair(pair: Pair): void;
  /** What lies there can't be used, and the last good pair serves on; once for each state of the files. */
  onFault(error: Error): void;
  /** Between two looks, in milliseconds. */
  readonly intervalMs?: number;
}

const LOOK_EVERY_MS = 2000;

/** Files that are being written are given this long before they are read. */
const SETTLE_MS = 100;

/**
 * Watches the pair of a directory. It looks at what the files hold every couple of seconds, since neither times nor
 * inotify show the kubelet's swap of the `..data` link reliably; inotify only makes it look sooner.
 * Returns what stops it.
 */
export function watchPair(
  dir: string,
  { pair, onPair, onFault, intervalMs = LOOK_EVERY_MS }: WatchOptions,
): () => void {
  let served: PairText = pair;
  let fault: string | undefined;
  let looking = false;

  async function look(): Promise<void> {
    if (looking) return;
    looking = true;
    try {
      const found = await readPair(dir);
      if (found.certificate !== served.certificate || found.key !== served.key) {
        // A certificate and a key of two generations, read amid a swap, do not match: the next look mends it.
        const next = checkPair(dir, found);
        onPair(next);
        served = found;
      }
      fault = undefined;
    } catch (error) {
      const { message } = error as Error;
      if (message !== fault) onFault(error as Error);
      fault = message;
    } finally {
      looking = false;
    }
  }

  const timer = setInterval(look, intervalMs);
  const stopListening = listen(dir, look);
  return () => {
    clearInterval(timer);
    stopListening();
  };
}

/** Calls back on changes where the file system tells of them; the look by time serves where it doesn't. */
function listen(dir: string, changed: () => void): () => void {
  let settled: NodeJS.Timeout | undefined;
  const onChange = () => {
    clearTimeout(settled);
    settled = setTimeout(changed, SETTLE_MS);
  };
  try {
    const watcher = watch(dir, { persistent: false }, onChange);
    watcher.on('error', () => watcher.close());
    return () => {
      clearTimeout(settled);
      watcher.close();
    };
  } catch {
    return () => {};
  }
}
