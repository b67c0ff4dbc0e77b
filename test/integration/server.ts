import type { AddressInfo } from 'node:net';
import { Writable } from 'node:stream';
import { pino } from 'pino';
import type { Issued } from '../../src/certificates/issue.ts';
import { issue } from '../../src/certificates/issue.ts';
import { checkPair } from '../../src/certificates/pair.ts';
import { createApp } from '../../src/server/app.ts';
import type { Clients } from '../../src/server/clients.ts';
import type { Check } from '../../src/server/health.ts';
import type { Judge } from '../../src/server/judge.ts';
import { createLifecycle } from '../../src/server/lifecycle.ts';
import { createMetrics } from '../../src/server/metrics.ts';
import { createOperations } from '../../src/server/operations.ts';
import { client } from './client.ts';

export interface Start {
  readonly judge?: Judge;
  readonly checks?: readonly Check[];
  readonly issued?: Issued;
  /** The moment at which the certificate is loaded. */
  readonly now?: Date;
  readonly clients?: Clients;
}

export type Server = Awaited<ReturnType<typeof startServer>>;

/** Allows everything, as the judge of tests that are not about judging. */
export const allowAll: Judge = async () => ({
  answer: { allowed: true, warnings: [], auditAnnotations: {} },
  mode: 'none',
  policy: '',
  findings: [],
  changes: [],
});

/** Starts both ports on free ones, with certificates of their own, and a client that trusts only them. */
export async function startServer({ judge = allowAll, checks = [], issued, now = new Date(), clients }: Start = {}) {
  const made = issued ?? (await issue(now));
  const lines: Record<string, unknown>[] = [];
  const gather = new Writable({
    write(chunk: Buffer, _encoding, done) {
      lines.push(JSON.parse(chunk.toString()));
      done();
    },
  });
  const watch = {
    resource: 'namespaces',
    synced: true,
    lastEventAt: 1_000,
    objects: 3,
    lists: 2,
    failures: 1,
    faults: 0,
  };
  const metrics = createMetrics('0.0.0', () => [watch]);
  const lifecycle = createLifecycle();
  const app = await createApp({
    judge,
    checks,
    metrics,
    lifecycle,
    ...(clients ? { clients } : {}),
    pair: checkPair('certs', made, now),
    logger: pino({ base: null }, gather),
  });
  const operations = createOperations(metrics, app.checks);
  await app.fastify.listen({ host: '127.0.0.1', port: 0 });
  await operations.listen({ host: '127.0.0.1', port: 0 });
  const { port } = app.fastify.server.address() as AddressInfo;
  const { port: metricsPort } = operations.server.address() as AddressInfo;
  const requests = client(port, made.ca);
  return {
    ...requests,
    app,
    port,
    metricsPort,
    issued: made,
    lifecycle,
    metrics,
    /** Log lines so far, parsed. */
    lines,
    stop: async () => {
      requests.close();
      for (const server of [app.fastify, operations]) {
        server.server.closeAllConnections();
        await server.close();
      }
    },
  };
}
