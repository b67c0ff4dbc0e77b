import { readFile } from 'node:fs/promises';

/** Who is told of what became of a file. */
export interface WatchFileOptions {
  /** What of it is in force; undefined if nothing is. It is looked at at once. */
  readonly text: string | undefined;
  /** It holds something else now, or is gone. What this throws is a fault, and told once. */
  onText(text: string | undefined): void;
  /** It can't be read, or not be used: what was before stays in force. */
  onFault(error: Error): void;
  /** Between two looks, in milliseconds. */
  readonly intervalMs?: number;
}

const LOOK_EVERY_MS = 2000;

/** The text of a file; undefined if there is none. */
async function readIfThere(file: string): Promise<string | undefined> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

/**
 * Watches one file by what it holds, since neither times nor inotify show the kubelet's swap of the `..data` link reliably.
 * Returns what stops it.
 */
export function watchFile(
  file: string,
  { text, onText, onFault, intervalMs = LOOK_EVERY_MS }: WatchFileOptions,
): () => void {
  let seen = text;
  let unreadable: string | undefined;
  let looking = false;

  async function look(): Promise<void> {
    if (looking) return;
    looking = true;
    try {
      const found = await readIfThere(file);
      unreadable = undefined;
      if (found === seen) return;
      seen = found;
      onText(found);
    } catch (error) {
      const { message } = error as Error;
      if (message !== unreadable) onFault(error as Error);
      unreadable = message;
    } finally {
      looking = false;
    }
  }

  look();
  const timer = setInterval(look, intervalMs).unref();
  return () => clearInterval(timer);
}
