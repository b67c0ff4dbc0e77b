import type { Logger } from 'pino';
import type { Lifecycle } from './lifecycle.ts';

/** How a process goes away. */
export interface ShutdownOptions {
  readonly lifecycle: Lifecycle;
  readonly logger: Logger;
  /** How long to serve on after the signal, until no endpoint and no connection leads here any more. */
  readonly delayMs: number;
  /** Ends the process. */
  exit(code: number): void;
}

/** Lets what is in flight end and frees everything; `hurry` is aborted when that takes too long. */
export type Close = (hurry: AbortSignal) => Promise<void>;

// The chart's grace period is 45 s: 10 s of delay, this, and room to spare. Its templates/_contradictions.tpl has this too.
const CLOSE_WITHIN_MS = 20_000;

// What a shell reports for a process that a signal ended.
const SIGNALS = { SIGTERM: 143, SIGINT: 130 } as const;

/**
 * Ends the process in order on SIGTERM or SIGINT: unready, serve on, let what is in flight end, exit 0.
 * A second signal ends it at once. Ctrl-C on a terminal skips the delay: no API server is behind it.
 * Called before anything is started, since the first process of a container does not hear a signal that it has no handler for;
 * until the returned function is told what going away takes, there is nothing to wait for.
 */
export function handleSignals(options: ShutdownOptions): (close: Close) => void {
  const { lifecycle, logger, exit } = options;
  let close: Close | undefined;
  for (const [signal, code] of Object.entries(SIGNALS)) {
    process.removeAllListeners(signal); // that of main.ts
    process.on(signal, () => {
      if (lifecycle.draining) {
        logger.warn({ signal }, 'second signal, exiting at once');
        exit(code);
        return;
      }
      lifecycle.draining = true;
      if (!close) {
        logger.info({ signal }, 'shutting down before it served');
        exit(0);
        return;
      }
      const delayMs = signal === 'SIGINT' && process.stdin.isTTY ? 0 : options.delayMs;
      logger.info({ signal, delayMs }, 'shutting down');
      shutDown(logger, delayMs, close).then(
        () => exit(0),
        (error: unknown) => {
          logger.error({ err: error }, 'shutdown failed');
          exit(1);
        },
      );
    });
  }
  return (given) => {
    close = given;
  };
}

async function shutDown(logger: Logger, delayMs: number, close: Close): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, delayMs));
  const hurry = new AbortController();
  const cap = setTimeout(() => {
    logger.warn({ afterMs: CLOSE_WITHIN_MS }, 'connections are still open, closing them');
    hurry.abort();
  }, CLOSE_WITHIN_MS);
  await close(hurry.signal);
  clearTimeout(cap);
  logger.info('shut down');
}

/** After an error that nothing caught, state can't be trusted: log it, become unready, exit 1. */
export function handleCrashes({
  lifecycle,
  logger,
  exit,
}: Pick<ShutdownOptions, 'lifecycle' | 'logger' | 'exit'>): void {
  for (const event of ['unhandledRejection', 'uncaughtException'] as const) {
    process.on(event, (error: unknown) => {
      lifecycle.failure = `crashed: ${event}`;
      logger.fatal({ err: error }, event);
      exit(1);
    });
  }
}
