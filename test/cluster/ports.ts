import { createServer, type Server } from 'node:net';

/**
 * Ports on 127.0.0.1 that are free now. They lie below 32768, where Linux begins to give ports to outgoing connections
 * (net.ipv4.ip_local_port_range), so that a server that is stopped for a while finds its port free again.
 */
export async function freePorts(count: number): Promise<number[]> {
  const held: Server[] = [];
  while (held.length < count) {
    const server = await listen(20_000 + Math.floor(Math.random() * 10_000));
    if (server) held.push(server);
  }
  const ports = held.map((server) => (server.address() as { port: number }).port);
  await Promise.all(held.map((server) => new Promise((resolve) => server.close(resolve))));
  return ports;
}

function listen(port: number): Promise<Server | undefined> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'EADDRINUSE' || error.code === 'EACCES') resolve(undefined);
      else reject(error);
    });
    server.listen(port, '127.0.0.1', () => resolve(server));
  });
}
