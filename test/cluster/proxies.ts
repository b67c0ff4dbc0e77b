import { connect, createServer, type Server, type Socket } from 'node:net';

export interface TcpProxy {
  readonly port: number;
  close(): Promise<void>;
}

/** Spreads connections over several ports of this machine in turn, as a Service does over its endpoints. */
export function balancer(ports: readonly number[]): Promise<TcpProxy> {
  let next = 0;
  return listening((client) => {
    const port = ports[next++ % ports.length] ?? 0;
    const upstream = connect(port, '127.0.0.1');
    client.pipe(upstream);
    upstream.pipe(client);
    return upstream;
  });
}

/** Passes on what comes back later by `lagMs`, in order: what is behind it sees a cluster of the past. */
export function lagging(port: number, lagMs: number): Promise<TcpProxy> {
  return listening((client) => {
    const upstream = connect(port, '127.0.0.1');
    client.pipe(upstream);
    upstream.on('data', (chunk) => setTimeout(() => client.writable && client.write(chunk), lagMs));
    upstream.on('end', () => setTimeout(() => client.end(), lagMs));
    return upstream;
  });
}

async function listening(onClient: (client: Socket) => Socket): Promise<TcpProxy> {
  const open = new Set<Socket>();
  const server: Server = createServer((client) => {
    const upstream = onClient(client);
    for (const socket of [client, upstream]) {
      open.add(socket);
      socket.on('error', () => {
        client.destroy();
        upstream.destroy();
      });
      socket.on('close', () => open.delete(socket));
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  return {
    port: typeof address === 'object' && address ? address.port : 0,
    close: () =>
      new Promise((resolve) => {
        for (const socket of open) socket.destroy();
        server.close(() => resolve());
      }),
  };
}
