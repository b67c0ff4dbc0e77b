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

/** A way to a port that can be cut and blocked. */
export interface Relay extends TcpProxy {
  /** Ends the connections that stand, with a reset, and says how many there were. */
  cut(): number;
  /** From now on nothing passes, in either direction, and nobody is told; false lets all go on. */
  block(blocked: boolean): void;
}

/** Passes connections to `host:port` on to a port of this machine. */
export async function relay(host: string, port: number, to: number): Promise<Relay> {
  const pairs = new Set<readonly [Socket, Socket]>();
  let blocked = false;
  const proxy = await listening(
    (client) => {
      const upstream = connect(to, '127.0.0.1');
      const pair = [client, upstream] as const;
      pairs.add(pair);
      client.on('close', () => pairs.delete(pair));
      client.on('data', (chunk) => upstream.write(chunk)).on('end', () => upstream.end());
      upstream.on('data', (chunk) => client.write(chunk)).on('end', () => client.end());
      if (blocked) for (const socket of pair) socket.pause();
      return upstream;
    },
    { host, port },
  );
  return {
    ...proxy,
    cut: () => {
      for (const [client, upstream] of pairs) {
        client.resetAndDestroy();
        upstream.destroy();
      }
      return pairs.size;
    },
    block: (now) => {
      blocked = now;
      for (const socket of [...pairs].flat()) now ? socket.pause() : socket.resume();
    },
  };
}

async function listening(
  onClient: (client: Socket) => Socket,
  at: { readonly host: string; readonly port: number } = { host: '127.0.0.1', port: 0 },
): Promise<TcpProxy> {
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
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(at.port, at.host, resolve);
  });
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
