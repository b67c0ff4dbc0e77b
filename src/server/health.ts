import type { FastifyInstance } from 'fastify';
import { Gauge, type Registry } from 'prom-client';
import type { Lifecycle } from './lifecycle.ts';

/** One condition of readiness. */
export interface Check {
  readonly name: string;
  /** What is wrong, or undefined. */
  problem(): string | undefined | Promise<string | undefined>;
}

/** Not ready while going away, or once the process can't be trusted. */
export function lifecycleCheck(lifecycle: Lifecycle): Check {
  return {
    name: 'lifecycle',
    problem: () => lifecycle.failure ?? (lifecycle.draining ? 'shutting down' : undefined),
  };
}

/**
 * GET /livez and GET /readyz, as text with a line a check.
 * Liveness asks nothing of certificates, policies or the API server: a restart would mend none of them.
 */
export function healthRoutes(app: FastifyInstance, checks: readonly Check[]): void {
  app.get('/livez', (_request, reply) => reply.type('text/plain').send('ok\n'));

  app.get('/readyz', async (_request, reply) => {
    const problems = await problemsOf(checks);
    const lines = checks.map(({ name }, at) =>
      problems[at] === undefined ? `[+] ${name}` : `[-] ${name}: ${problems[at]}`,
    );
    const ready = isReady(problems);
    return reply
      .code(ready ? 200 : 503)
      .type('text/plain')
      .send(`${lines.join('\n')}\n${ready ? 'ready' : 'not ready'}\n`);
  });
}

/** What /readyz says, as a metric: a replica that is not ready is still scraped. The checks are made at each scrape. */
export function readyMetric(registry: Registry, checks: readonly Check[]): void {
  new Gauge({
    name: 'gpugate_ready',
    help: '1 while every condition of /readyz is met, else 0.',
    registers: [registry],
    async collect() {
      this.set(isReady(await problemsOf(checks)) ? 1 : 0);
    },
  });
}

type Problem = string | undefined;

function isReady(problems: readonly Problem[]): boolean {
  return problems.every((problem) => problem === undefined);
}

/** The problem of each check, undefined where there is none. Never rejects. */
function problemsOf(checks: readonly Check[]): Promise<readonly Problem[]> {
  return Promise.all(checks.map((check) => problemOf(check)));
}

async function problemOf(check: Check): Promise<Problem> {
  try {
    return await check.problem();
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}
