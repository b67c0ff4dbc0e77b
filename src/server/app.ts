import type { FastifyInstance } from 'fastify';
import { fastify } from 'fastify';
import type { Logger } from 'pino';
import type { Pair } from '../certificates/pair.ts';
import { BODY_LIMIT } from './body.ts';
import { admitClients, type Clients } from './clients.ts';
import { closeWhileDraining } from './drain.ts';
import { certificateCheck, handshakeCheck } from './handshake.ts';
import type { Check } from './health.ts';
import { healthRoutes, lifecycleCheck } from './health.ts';
import type { Judge } from './judge.ts';
import type { Lifecycle } from './lifecycle.ts';
import type { Metrics } from './metrics.ts';
import { reviewRoutes } from './reviews.ts';
import { plainRefusals } from './routes.ts';
import { HANDSHAKE_TIMEOUT_MS, tlsOptions } from './tls.ts';
import { countTlsFailures } from './tls-failures.ts';

/** What the webhook's server is made of. */
export interface AppOptions {
  readonly judge: Judge;
  readonly pair: Pair;
  readonly metrics: Metrics;
  readonly logger: Logger;
  readonly lifecycle: Lifecycle;
  /** The clock by which the certificate expires; this machine's by default. */
  readonly now?: () => Date;
  /** Conditions of readiness beyond the server's own. */
  readonly checks?: readonly Check[];
  /** Who may send reviews; without it, all that can connect. */
  readonly clients?: Clients;
}

/** The server that the API server calls. */
export interface App {
  readonly fastify: FastifyInstance;
  /** Every condition of readiness, for the second port. */
  readonly checks: readonly Check[];
  /** Serves another certificate to the connections that come from now on. Those that stand keep theirs. */
  usePair(pair: Pair): void;
  /** Trusts another authority for clients from now on. Only where there was one at the start. */
  useClients(clients: Clients): void;
}

/**
 * Makes the HTTPS server with POST /mutate, POST /validate, GET /livez and GET /readyz. It does not listen yet.
 * @example
 * const app = await createApp({ judge, pair, metrics, logger, lifecycle });
 * await app.fastify.listen({ host: '127.0.0.1', port: 8443 });
 */
export async function createApp(options: AppOptions): Promise<App> {
  const { metrics, logger, lifecycle } = options;
  let { pair, clients } = options;

  const secure = fastify({
    http2: false,
    https: {
      ...tlsOptions(pair, clients),
      handshakeTimeout: HANDSHAKE_TIMEOUT_MS,
      headersTimeout: 10_000,
      // Node looks for timed out requests only this often.
      connectionsCheckingInterval: 5_000,
    },
    bodyLimit: BODY_LIMIT,
    // Longer than the 90 s after which the API server drops an idle connection (apimachinery, pkg/util/net/http.go):
    // if we close first, a review that is just being sent is lost.
    keepAliveTimeout: 120_000,
    requestTimeout: 15_000,
    // Fastify would answer 503 to a second request on a busy connection while it closes.
    return503OnClosing: false,
  });
  // Fastify's type of an HTTPS server fits none of its own plugin types.
  const app = secure as unknown as FastifyInstance;
  const { server } = secure;
  const current = () => pair;
  const own = [
    lifecycleCheck(lifecycle),
    certificateCheck(current, options.now ?? (() => new Date())),
    handshakeCheck(server, current),
  ];
  const checks = [...own, ...(options.checks ?? [])];

  countTlsFailures(server, metrics, logger);
  closeWhileDraining(app, lifecycle);
  if (clients) admitClients(app, server, () => clients as Clients, metrics, logger);
  plainRefusals(app, { '/mutate': 'POST', '/validate': 'POST', '/livez': 'GET', '/readyz': 'GET' });
  healthRoutes(app, checks);
  await app.register(reviewRoutes, { judge: options.judge, metrics, logger });
  showLife(metrics, pair);

  return {
    fastify: app,
    checks,
    usePair: (next) => {
      server.setSecureContext(tlsOptions(next, clients));
      pair = next;
      showLife(metrics, next);
    },
    useClients: (next) => {
      server.setSecureContext(tlsOptions(pair, next));
      clients = next;
    },
  };
}

function showLife(metrics: Metrics, { notBefore, notAfter, authority }: Pair): void {
  metrics.certificateStart.set(notBefore.getTime() / 1000);
  metrics.certificateExpiry.set(notAfter.getTime() / 1000);
  metrics.authorityStart.remove();
  metrics.authorityExpiry.remove();
  if (authority === undefined) return;
  metrics.authorityStart.set(authority.validFromDate.getTime() / 1000);
  metrics.authorityExpiry.set(authority.validToDate.getTime() / 1000);
}
