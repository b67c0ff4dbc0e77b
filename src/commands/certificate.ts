import type { Logger } from 'pino';
import { developmentCertificates } from '../certificates/development.ts';
import type { Pair } from '../certificates/pair.ts';
import { loadPair } from '../certificates/pair.ts';
import { watchPair } from '../certificates/watch.ts';
import type { WatchState } from '../cluster/source.ts';
import type { App } from '../server/app.ts';
import type { Check } from '../server/health.ts';
import type { Metrics } from '../server/metrics.ts';
import type { Configuration } from './configuration.ts';
import { EXIT, failure } from './exit.ts';
import { insideCluster, orInput } from './sources.ts';

/** Where the certificate that is served comes from. */
export interface Certificates {
  /** The pair to begin with. */
  readonly pair: Pair;
  /** Conditions of readiness. */
  readonly checks: readonly Check[];
  watches(): readonly WatchState[];
  /** The clock by which it is judged whether one has expired. */
  now(): Date;
  /** Gives the app every other pair that is to be served from now on. */
  follow(app: Pick<App, 'usePair'>): void;
  close(): Promise<void>;
}

/** The certificates of a Secret that gpugate keeps up itself where one is given, else those of a directory. */
export async function openCertificates(
  configuration: Configuration,
  logger: Logger,
  metrics: Metrics,
): Promise<Certificates> {
  if (configuration.certSecret === undefined) return directory(configuration.certDir, logger, metrics);
  const { openSecret } = await import('./certificate-secret.ts');
  return orInput(openSecret(configuration, logger, metrics));
}

async function directory(dir: string, logger: Logger, metrics: Metrics): Promise<Certificates> {
  const pair = await startingPair(dir, logger);
  let unfollow = () => {};
  return {
    pair,
    checks: [],
    watches: () => [],
    now: () => new Date(),
    follow(app) {
      unfollow = followPair(dir, pair, app, metrics, logger);
    },
    close: async () => unfollow(),
  };
}

/**
 * The pair to serve. Outside a pod, development certificates are made or renewed first; in one, nobody would trust
 * them, so a missing Secret stops the start instead.
 */
async function startingPair(dir: string, logger: Logger): Promise<Pair> {
  if (!insideCluster()) {
    const development = await orInput(developmentCertificates(dir));
    if (development.done === 'made') logger.info({ dir }, 'made development certificates');
    if (development.done === 'renewed') logger.info({ dir, why: development.why }, 'renewed development certificates');
  }
  try {
    return await loadPair(dir);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    const missing = `${dir}: no certificate; mount a Secret with tls.crt and tls.key there`;
    throw failure(EXIT.input, code === 'ENOENT' ? missing : message);
  }
}

/** Serves what is put into the directory from now on. Returns what ends that. */
function followPair(dir: string, pair: Pair, app: Pick<App, 'usePair'>, metrics: Metrics, logger: Logger): () => void {
  return watchPair(dir, {
    pair,
    onPair: (next) => {
      app.usePair(next);
      metrics.certificateReloads.inc({ result: 'success' });
      logger.info({ serial: next.leaf.serialNumber, notAfter: next.notAfter.toISOString() }, 'certificate reloaded');
    },
    onFault: (error) => {
      metrics.certificateReloads.inc({ result: 'failure' });
      logger.error({ reason: error.message }, 'certificate not reloaded, the last good pair serves on');
    },
  });
}
