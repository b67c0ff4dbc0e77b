import { type Logger, pino } from 'pino';

/** A logger that writes JSON lines to stdout, and what is needed to leave none behind. */
export interface Log {
  readonly logger: Logger;
  /** Resolves once every line so far is written. */
  flush(): Promise<void>;
}

/**
 * Lines gather up to this many bytes, or this many milliseconds, before one write: at thousands of reviews a second
 * a write call each would cost more than the verdict. It has to be under the 16 KiB that pino writes at once.
 */
const GATHER_BYTES = 12_288;
const GATHER_MS = 100;

/** Makes the process's logger. `level` is one of pino's, or `silent`. */
export function createLog(level: string): Log {
  const destination = pino.destination({ fd: 1, sync: false, minLength: GATHER_BYTES, periodicFlush: GATHER_MS });
  const logger = pino(
    {
      level,
      // Pod name and host are what the collector adds by itself.
      base: null,
      timestamp: timestamp(),
      formatters: { level: (label) => ({ level: label }) },
    },
    destination,
  );
  return {
    logger,
    flush: () => new Promise((resolve) => destination.flush(() => resolve())),
  };
}

/** The time as `,"time":"2026-01-31T12:00:00.000Z"`. Writing it costs as much as a rule, so a millisecond's lines share it. */
function timestamp(): () => string {
  let at = 0;
  let text = '';
  return () => {
    const now = Date.now();
    if (now !== at) {
      at = now;
      text = `,"time":"${new Date(now).toISOString()}"`;
    }
    return text;
  };
}
