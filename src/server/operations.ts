import type { FastifyInstance } from 'fastify';
import { fastify } from 'fastify';
import type { Check } from './health.ts';
import { healthRoutes, readyMetric } from './health.ts';
import type { Metrics } from './metrics.ts';
import { plainRefusals } from './routes.ts';

/** Makes the plain HTTP server of the second port: GET /metrics, GET /livez and GET /readyz. It does not listen yet. */
export function createOperations(metrics: Metrics, checks: readonly Check[]): FastifyInstance {
  const app = fastify({ requestTimeout: 15_000, return503OnClosing: false });
  plainRefusals(app, { '/metrics': 'GET', '/livez': 'GET', '/readyz': 'GET' });
  healthRoutes(app, checks);
  readyMetric(metrics.registry, checks);
  app.get('/metrics', async (_request, reply) =>
    reply.type(metrics.registry.contentType).send(await metrics.registry.metrics()),
  );
  return app;
}
