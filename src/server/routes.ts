import type { FastifyInstance } from 'fastify';

/** Plain JSON answers for a path that isn't served (404) and for a method that its path doesn't take (405). */
export function plainRefusals(app: FastifyInstance, methods: Readonly<Record<string, string>>): void {
  // Without parsers Fastify leaves the body of an unknown route alone instead of refusing its content type first.
  app.removeAllContentTypeParsers();
  app.setNotFoundHandler((request, reply) => {
    const path = request.url.split('?', 1)[0] ?? '';
    const allowed = Object.hasOwn(methods, path) ? methods[path] : undefined;
    if (allowed !== undefined) {
      const message = `${request.method} ${path} is not served: use ${allowed}`;
      return reply.code(405).header('allow', allowed).send({ statusCode: 405, error: 'Method Not Allowed', message });
    }
    const served = Object.entries(methods).map(([known, method]) => `${method} ${known}`);
    const message = `nothing is served here: there are ${served.join(', ')}`;
    return reply.code(404).send({ statusCode: 404, error: 'Not Found', message });
  });
}
