import type { FastifyInstance } from 'fastify';
import type { Lifecycle } from './lifecycle.ts';

/**
 * While the process goes away, every answer asks its client to open another connection: the API server keeps using
 * the connections it has, also to a pod that no endpoint names any more (kubernetes/kubernetes#127335).
 */
export function closeWhileDraining(app: FastifyInstance, lifecycle: Lifecycle): void {
  app.addHook('onSend', (_request, reply, _payload, done) => {
    if (lifecycle.draining) reply.header('connection', 'close');
    done();
  });
}
