import { type LookOptions, lookAgainAndAgain } from './looks.ts';
import { readIfThere } from './read.ts';

/** Who is told of what became of a file. A fault is one of reading it, or what `onText` throws: what was before stays in force. */
export interface WatchFileOptions extends LookOptions {
  /** What of it is in force; undefined if nothing is. It is looked at at once. */
  readonly text: string | undefined;
  /** It holds something else now, or is gone. */
  onText(text: string | undefined): void;
}

/** Watches one file by what it holds. Returns what stops it. */
export function watchFile(file: string, { text, onText, ...options }: WatchFileOptions): () => void {
  let used = text;
  const { lookNow, stop } = lookAgainAndAgain(async () => {
    const found = await readIfThere(file);
    if (found === used) return;
    onText(found);
    used = found;
  }, options);
  lookNow();
  return stop;
}
