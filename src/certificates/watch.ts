import { watch } from 'node:fs';
import { type LookOptions, lookAgainAndAgain } from '../files/looks.ts';
import type { Pair, PairText } from './pair.ts';
import { checkPair, readPair } from './pair.ts';

/** Who is told of what became of the files. A fault is a state of them that can't be used: the last good pair serves on. */
export interface WatchOptions extends LookOptions {
  /** The pair that is served now. */
  readonly pair: Pair;
  /** Another good pair lies there, or another CA beside it. */
  onPair(pair: Pair): void;
}

/** Files that are being written are given this long before they are read. */
const SETTLE_MS = 100;

/** Watches the pair of a directory, and the CA beside it, by what the files hold; inotify only makes it look sooner. Returns what stops it. */
export function watchPair(dir: string, { pair, onPair, ...options }: WatchOptions): () => void {
  let served: PairText = pair;
  const { lookNow, stop } = lookAgainAndAgain(async () => {
    const found = await readPair(dir);
    if (found.certificate === served.certificate && found.key === served.key && found.ca === served.ca) return;
    // A certificate and a key of two generations, read amid a swap, do not match: the next look mends it.
    const next = checkPair(dir, found);
    onPair(next);
    served = found;
  }, options);
  const stopListening = listen(dir, lookNow);
  return () => {
    stop();
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
