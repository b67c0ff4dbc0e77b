import type { AddressInfo } from 'node:net';
import type { FastifyInstance } from 'fastify';

/** Listens, and says on which port. */
export async function listen(app: FastifyInstance, host: string, port: number): Promise<number> {
  // Given `localhost`, Fastify opens a second server of its own for ::1, which a new certificate would never reach.
  await app.listen({ host: host === 'localhost' ? '127.0.0.1' : host, port });
  return (app.server.address() as AddressInfo).port;
}

/** Lets requests in flight end and closes the server; once `hurry` is aborted, without waiting for them. */
export async function close(app: FastifyInstance, hurry: AbortSignal): Promise<void> {
  const cut = () => app.server.closeAllConnections();
  hurry.addEventListener('abort', cut, { once: true });
  if (hurry.aborted) cut();
  await app.close();
  hurry.removeEventListener('abort', cut);
}
