import type { Logger } from 'pino';
import { watchFile } from '../files/watch-file.ts';

export const LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;

/**
 * Takes the level from a file while there is one with something in it, and the logger's own otherwise; so a mounted ConfigMap
 * changes it without a restart. A mistake in it is logged, also at the start: no pod should fail by its log level. Returns what
 * stops it.
 */
export function followLevel(file: string, logger: Logger, intervalMs?: number): () => void {
  const own = logger.level;
  return watchFile(file, {
    text: undefined,
    ...(intervalMs === undefined ? {} : { intervalMs }),
    onText: (text) => change(logger, levelIn(file, text) ?? own),
    onFault: (error) => logger.error({ reason: error.message }, 'the log level stays as it is'),
  });
}

/** Says so at the moment at which more is logged. */
function change(logger: Logger, level: string): void {
  const before = logger.level;
  if (level === before) return;
  const { values } = logger.levels;
  const quieter = (values[level] ?? Number.POSITIVE_INFINITY) > (values[before] ?? Number.POSITIVE_INFINITY);
  const tell = () => logger.info({ before, level }, 'log level changed');
  if (quieter) tell();
  logger.level = level;
  if (!quieter) tell();
}

function levelIn(file: string, text = ''): string | undefined {
  const level = text.trim();
  if (level === '') return undefined;
  if (LEVELS.some((known) => known === level)) return level;
  throw new Error(`${file}: ${JSON.stringify(level)} is not a level; write one of ${LEVELS.join(', ')}`);
}
