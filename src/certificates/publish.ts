import type { Logger } from 'pino';
import { type ApiClient, ApiError } from '../cluster/client.ts';
import { startWatch, type Watch } from '../cluster/watch.ts';
import { CONFIGURATIONS_PATH } from '../registration/configurations.ts';
import { isInStep, patchFor, type View, viewOf } from './configurations.ts';
import type { CertificateMetrics } from './metrics.ts';

/** The two webhook configurations of one name, watched. */
export interface Publisher {
  /** Those that there are; undefined while that is not known. */
  seen(): readonly Seen[] | undefined;
  /**
   * Writes the bundle where it isn't yet. Says after how many milliseconds to try again: infinity when it is everywhere. Throws what
   * the API server says, unless a configuration has only changed meanwhile.
   */
  publish(seen: readonly Seen[], bundle: string, signal: () => AbortSignal): Promise<number>;
  readonly watches: readonly Watch<View>[];
}

/** One configuration as it stood. */
export interface Seen {
  readonly resource: string;
  readonly view: View;
}

export interface PublisherOptions {
  readonly client: ApiClient;
  /** Name of both configurations. */
  readonly name: string;
  readonly log: Logger;
  readonly metrics: CertificateMetrics;
  onChange(): void;
}

const RESOURCES = ['mutatingwebhookconfigurations', 'validatingwebhookconfigurations'] as const;

/** A configuration is written at most once in this time, against a tool that takes back all that is written. */
const WRITE_EVERY_MS = 1000;
/** Refusals of one state of a configuration that count as a race; more of them are somebody's rule. */
const MOST_RACES = 3;
/** Until the watch has told of what was just written, or of what was in the way. */
const SOON_MS = 100;

export function startPublisher({ client, name, log, metrics, onChange }: PublisherOptions): Publisher {
  const watched = RESOURCES.map((resource) => {
    const path = `${CONFIGURATIONS_PATH}/${resource}`;
    return { resource, watch: startWatch(client, { resource, path, name, log, reduce: viewOf, onChange }) };
  });
  const written = new Map<string, number>();
  const races = new Map<string, { readonly version: string; readonly count: number }>();

  /** Counts a refusal, and says whether it tells only that the configuration has changed or gone since: then the watch tells of it. */
  function countedAsRace(error: unknown, { resource, view }: Seen): boolean {
    if (!(error instanceof ApiError) || ![404, 409, 422].includes(error.status)) return false;
    const before = races.get(resource);
    const count = before?.version === view.resourceVersion ? before.count + 1 : 1;
    races.set(resource, { version: view.resourceVersion, count });
    return count <= MOST_RACES;
  }

  async function write(seen: Seen, bundle: string, signal: AbortSignal): Promise<void> {
    const { resource, view } = seen;
    const path = `${CONFIGURATIONS_PATH}/${resource}/${encodeURIComponent(name)}`;
    try {
      await client.patch(path, patchFor(view, bundle), signal);
    } catch (error) {
      const stale = countedAsRace(error, seen);
      metrics.bundleWrites.inc({ resource, result: stale ? 'conflict' : 'failure' });
      if (stale) return;
      throw error;
    }
    written.set(resource, performance.now());
    metrics.bundleWrites.inc({ resource, result: 'success' });
    log.info({ resource, name }, 'caBundle written');
  }

  return {
    seen() {
      if (!watched.every(({ watch }) => watch.state().synced)) return undefined;
      return watched.flatMap(({ resource, watch }) => watch.values().map((view) => ({ resource, view })));
    },
    async publish(seen, bundle, signal) {
      const late = seen.filter(({ view }) => !isInStep(view, bundle));
      for (const resource of RESOURCES) {
        if (!seen.some((each) => each.resource === resource)) metrics.bundleInStep.remove({ resource });
        else metrics.bundleInStep.set({ resource }, late.some((each) => each.resource === resource) ? 0 : 1);
      }
      let waitMs = Number.POSITIVE_INFINITY;
      const failures: unknown[] = [];
      for (const each of late) {
        const leftMs = WRITE_EVERY_MS - (performance.now() - (written.get(each.resource) ?? Number.NEGATIVE_INFINITY));
        // One that can't be written keeps the other from nothing.
        if (leftMs <= 0) await write(each, bundle, signal()).catch((error) => failures.push(error));
        waitMs = Math.min(waitMs, Math.max(leftMs, SOON_MS));
      }
      if (failures.length > 0) throw failures[0];
      return waitMs;
    },
    watches: watched.map(({ watch }) => watch),
  };
}
