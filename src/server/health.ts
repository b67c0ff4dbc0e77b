import type { FastifyInstance } from 'fastify';
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
    const problems = await Promise.all(checks.map((check) => problemOf(check)));
    const lines = checks.map(({ name }, at) =>
      problems[at] === undefined ? `[+] ${name}` : `[-] ${name}: ${problems[at]}`,
    );
    const ready = problems.every((problem) => problem === undefined);
    return reply
      .code(ready ? 200 : 503)
      .type('text/plain')
      .send(`${lines.join('\n')}\n${ready ? 'ready' : 'not ready'}\n`);
  });
}

async function problemOf(check: Check): Promise<string | undefined> {
  try {
    return await check.problem();
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}
