import type { Logger } from 'pino';
import { DEFAULT_BACKOFF, delayAfter } from '../cluster/backoff.ts';
import type { ApiClient } from '../cluster/client.ts';
import type { WatchState } from '../cluster/source.ts';
import { startWatch } from '../cluster/watch.ts';
import { createAlarm } from './alarm.ts';
import { createTrust } from './configurations.ts';
import { bundleText, type Content, type Read, readContent, type SecretObject } from './content.ts';
import { carryOut, leafUnder } from './make.ts';
import type { CertificateMetrics } from './metrics.ts';
import type { Pair } from './pair.ts';
import { clockProblem, decide, issuerOf, mayServe, type Plan, type Served, type Situation } from './plan.ts';
import { startPublisher } from './publish.ts';
import { collectionOf, type NamespacedName, secretStore } from './secret.ts';
import type { Terms } from './terms.ts';
import { same } from './x509.ts';

export interface KeepOptions {
  readonly client: ApiClient;
  readonly secret: NamespacedName;
  /** Name of the MutatingWebhookConfiguration and of the ValidatingWebhookConfiguration. */
  readonly configurations: string;
  /** DNS names of the leaf. */
  readonly names: readonly string[];
  readonly terms: Terms;
  readonly log: Logger;
  readonly metrics: CertificateMetrics;
  /** Told of each pair that is to be served from now on. */
  onPair(pair: Pair): void;
}

/** Certificates that are kept up until `close`. */
export interface Kept {
  /** What keeps this replica from being called, or undefined; once that was so it stays so. */
  problem(): string | undefined;
  watches(): readonly WatchState[];
  /** The clock by which certificates are judged: the API server's, once it has answered. */
  now(): Date;
  close(): Promise<void>;
}

const REQUEST_MS = 10_000;
/** Against a tool that takes back all that is written: the Secret is written at most so often in a minute. */
const MOST_WRITES = 60;
const MINUTE = 60_000;

/**
 * Keeps a CA and a leaf in a Secret, the CA in the webhook configurations, and serves the leaf. Every replica does; which of them
 * writes is settled by the Secret's resourceVersion. What to write is decided in `plan.ts`; this is the loop around it, which looks
 * at the clock from time to time and at once when the Secret or a configuration changes. No review ever waits for it.
 */
export function keepCertificates(options: KeepOptions): Kept {
  const { client, names, terms, log, metrics } = options;
  const store = secretStore(client, options.secret);
  const trust = createTrust();
  const closing = new AbortController();
  const alarm = createAlarm();
  let writes: number[] = [];
  let held: Content | undefined;
  let served: Served | undefined;
  let failure: string | undefined;
  let faults = '';
  let ready = false;
  /** Looks in a row at which the configurations were not known. */
  let unseen = 0;

  const secretWatch = startWatch(client, {
    resource: 'secrets',
    path: collectionOf(options.secret),
    name: options.secret.name,
    log,
    // The keys in it are read when they are needed, and not kept here.
    reduce: ({ metadata }) => metadata?.resourceVersion,
    onChange: alarm.ring,
  });
  const publisher = startPublisher({ client, name: options.configurations, log, metrics, onChange: alarm.ring });

  const clock = () => client.now() ?? new Date();
  const signal = () => AbortSignal.any([closing.signal, AbortSignal.timeout(REQUEST_MS)]);

  /** One look at everything, and at most one write of the Secret. Returns after how long to look again, in milliseconds. */
  async function step(): Promise<number> {
    // Before the Secret is read: whoever has published a newer bundle than that of the Secret has then changed a configuration
    // since, and our patch of it is refused.
    const seen = publisher.seen();
    trust.see(seen?.map(({ view }) => view));
    const secret = await store.read(signal());
    const read = secret && readContent(secret);
    tellFaults(read);
    const now = clock();
    const situation: Situation = { now, terms, names, secret: read, held, served, trustedForMs: trust.forMs };
    const problem = clockProblem(situation);
    if (problem !== undefined) throw new Error(problem);
    const plan = decide(situation);
    if (plan.why.length > 0) {
      await write(secret, plan, now);
      return 0;
    }
    const content = read?.content as Content;
    held = content;
    serve(content, situation);
    if (seen === undefined) {
      unseen += 1;
      return delayAfter(unseen, DEFAULT_BACKOFF);
    }
    unseen = 0;
    const waitMs = await publisher.publish(seen, bundleText(content.bundle), signal);
    if (waitMs === Number.POSITIVE_INFINITY && served !== undefined) ready = true;
    return Math.min(waitMs, terms.lookMs);
  }

  async function write(secret: SecretObject | undefined, plan: Plan, now: Date): Promise<void> {
    const at = performance.now();
    writes = writes.filter((each) => at - each < MINUTE);
    if (writes.length >= MOST_WRITES)
      throw new Error(`the Secret was written ${MOST_WRITES} times within a minute; find out what else writes it`);
    const content = await carryOut(plan, terms, now);
    writes.push(at);
    let written: boolean;
    try {
      written = await store.write(secret, content, signal());
    } catch (error) {
      metrics.secretWrites.inc({ result: 'failure' });
      throw error;
    }
    metrics.secretWrites.inc({ result: written ? 'success' : 'conflict' });
    if (!written) return;
    if (plan.authority === 'make') metrics.renewals.inc({ what: 'authority' });
    if (plan.pair === 'make') metrics.renewals.inc({ what: 'leaf' });
    log.info({ secret: options.secret, why: plan.why, ...about(content) }, 'certificates written');
    held = content;
  }

  function serve({ authority, bundle, pair }: Content, situation: Situation): void {
    const issuer = pair && issuerOf(pair, [authority?.x509, ...bundle]);
    if (pair === undefined || issuer === undefined || same(pair.leaf, served?.pair.leaf)) return;
    if (!mayServe({ pair, issuer }, situation)) return;
    options.onPair({ ...pair, authority: issuer });
    served = { pair, issuer };
  }

  function tellFaults(read: Read | undefined): void {
    const found = read?.faults.join('; ') ?? '';
    if (found !== '' && found !== faults) {
      metrics.secretFaults.inc();
      log.error(
        { secret: options.secret, faults: read?.faults },
        'the Secret of certificates holds what cannot be used, the last good pair serves on',
      );
    }
    faults = found;
  }

  /**
   * Where the Secret can't be read or written until the leaf is about to expire (etcd is full, or the way to the API server is cut in
   * one direction), this replica signs a leaf for itself, under the CA that all trust.
   */
  async function renewAlone(): Promise<void> {
    const now = clock();
    const authority = held?.authority;
    if (!served || !authority || !same(authority.x509, served.issuer)) return;
    const { notAfter } = served.pair;
    if (notAfter.getTime() - now.getTime() > terms.leafMs / 6 || authority.x509.validToDate <= now) return;
    // It ends with its CA, as another one would.
    if (notAfter >= authority.x509.validToDate) return;
    const pair = await leafUnder(authority, names, terms, now);
    options.onPair({ ...pair, authority: authority.x509 });
    served = { pair, issuer: authority.x509 };
    metrics.renewals.inc({ what: 'leaf' });
    log.warn(about({ authority, pair }), 'a leaf of this replica alone is served, since the Secret cannot be written');
  }

  async function run(): Promise<void> {
    let failures = 0;
    while (!closing.signal.aborted) {
      let delayMs: number;
      try {
        delayMs = await step();
        if (failure !== undefined) log.info({ secret: options.secret }, 'certificates are kept up again');
        failures = 0;
        failure = undefined;
      } catch (error) {
        if (closing.signal.aborted) return;
        failures += 1;
        const { message } = error as Error;
        if (message !== failure)
          log.error({ secret: options.secret, reason: message }, 'certificates cannot be kept up');
        failure = message;
        delayMs = delayAfter(failures, DEFAULT_BACKOFF);
        await renewAlone().catch((reason: Error) => log.error({ err: reason }, 'a leaf cannot be made'));
      }
      await alarm.sleep(delayMs, closing.signal);
    }
  }

  const running = run();
  const watches = [secretWatch, ...publisher.watches];
  return {
    problem() {
      if (ready) return undefined;
      if (failure !== undefined) return failure;
      if (served === undefined) return 'waiting for the Secret';
      return `waiting for caBundle of ${options.configurations}`;
    },
    watches: () => watches.map((watch) => watch.state()),
    now: clock,
    async close() {
      closing.abort();
      await Promise.all([running, ...watches.map((watch) => watch.close())]);
      await client.close();
    },
  };
}

function about({ authority, pair }: Pick<Content, 'authority' | 'pair'>): object {
  return {
    leaf: pair?.leaf.serialNumber,
    leafUntil: pair?.notAfter.toISOString(),
    ca: authority?.x509.serialNumber,
    caUntil: authority?.x509.validToDate.toISOString(),
  };
}
