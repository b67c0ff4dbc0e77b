import type { Logger } from 'pino';
import { issue } from '../certificates/issue.ts';
import { keepCertificates } from '../certificates/keep.ts';
import { certificateMetrics } from '../certificates/metrics.ts';
import { type Pair, parsePair } from '../certificates/pair.ts';
import type { NamespacedName } from '../certificates/secret.ts';
import { termsFor } from '../certificates/terms.ts';
import { connect } from '../cluster/client.ts';
import type { App } from '../server/app.ts';
import type { Metrics } from '../server/metrics.ts';
import type { Certificates } from './certificate.ts';
import type { Configuration } from './configuration.ts';

/** How long a start waits for the first pair; usually it is there after a few requests. */
const FIRST_PAIR_MS = 5000;

/**
 * The certificates of the Secret that `--cert-secret` names, kept up from now on. Where the API server doesn't answer, a pair that
 * nobody trusts is served until it does: the port and the probes are there, and readiness says what is missing.
 */
export async function openSecret(
  configuration: Configuration,
  logger: Logger,
  metrics: Metrics,
): Promise<Certificates> {
  const { kubeconfig, certSecret, service, webhookConfigurations, certLifetime } = configuration;
  const client = await connect(kubeconfig);
  let app: Pick<App, 'usePair'> | undefined;
  const pairs: Pair[] = [];
  const first = Promise.withResolvers<void>();
  const kept = keepCertificates({
    client,
    secret: certSecret as NamespacedName,
    configurations: webhookConfigurations,
    names: namesOf(service as NamespacedName),
    terms: termsFor(certLifetime),
    log: logger,
    metrics: certificateMetrics(metrics.registry),
    onPair: (pair) => {
      app?.usePair(pair);
      pairs.push(pair);
      first.resolve();
      metrics.certificateReloads.inc({ result: 'success' });
      logger.info({ serial: pair.leaf.serialNumber, notAfter: pair.notAfter.toISOString() }, 'certificate loaded');
    },
  });
  await within(FIRST_PAIR_MS, first.promise);
  const pair = pairs.at(-1) ?? (await nobodysPair());
  return {
    pair,
    checks: [{ name: 'certificates', problem: kept.problem }],
    watches: kept.watches,
    now: kept.now,
    follow(to) {
      app = to;
      const latest = pairs.at(-1);
      if (latest !== undefined && latest !== pair) to.usePair(latest);
    },
    close: kept.close,
  };
}

/** What the API server calls a Service, and what other clients do. */
function namesOf({ namespace, name }: NamespacedName): readonly string[] {
  const service = `${name}.${namespace}.svc`;
  return [name, `${name}.${namespace}`, service, `${service}.cluster.local`];
}

async function nobodysPair(): Promise<Pair> {
  const { certificate, key } = await issue(new Date());
  return parsePair('', { certificate, key });
}

async function within(ms: number, promise: Promise<void>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms);
  });
  await Promise.race([promise, late]);
  clearTimeout(timer);
}
