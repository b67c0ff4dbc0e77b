import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { type Component, startComponent, whenReady } from '../component.ts';

/** A TCP balancer whose servers can be changed while it runs. */
export interface Balancer {
  /** Makes exactly these receive new connections; connections that stand stay with the server they have. */
  use(servers: readonly string[]): Promise<void>;
  stop(): Promise<void>;
}

// More pods than a rolling upgrade of a few replicas has at a time.
const SLOTS = 12;

/** Throws an Error that says what to install where there is no haproxy. */
export function haproxyBinary(): string {
  const folders = [...(process.env.PATH ?? '').split(':'), '/usr/sbin', '/usr/local/sbin'];
  const found = folders.map((folder) => join(folder, 'haproxy')).find((path) => existsSync(path));
  if (found) return found;
  throw new Error('there is no haproxy, which stands in for kube-proxy here: install it (apt-get install haproxy)');
}

/**
 * Starts haproxy on an address, with no server yet. It spreads connections at random, as kube-proxy does; unlike kube-proxy it
 * tries another server when one refuses the connection.
 */
export async function startBalancer(dir: string, name: string, address: string, port: number): Promise<Balancer> {
  const socket = join(dir, `${name}.sock`);
  const file = join(dir, `${name}.cfg`);
  await writeFile(file, configuration(socket, address, port));
  const program = await startComponent('haproxy', haproxyBinary(), ['-db', '-f', file], join(dir, `${name}.log`));
  await whenReady([program], async () => existsSync(socket), 10_000);
  return balancerOf(program, socket);
}

function configuration(socket: string, address: string, port: number): string {
  return `
global
  stats socket ${socket} mode 600 level admin
defaults
  mode tcp
  timeout connect 2s
  # Longer than the 90 s for which the API server keeps an idle connection.
  timeout client 5m
  timeout server 5m
  retries 3
  option redispatch 1
frontend service
  bind ${address}:${port}
  default_backend pods
backend pods
  balance random
  server-template pod 1-${SLOTS} 127.0.0.1:1 disabled
`;
}

function balancerOf(program: Component, socket: string): Balancer {
  const slots: (string | undefined)[] = Array.from({ length: SLOTS });
  return {
    async use(servers) {
      const commands: string[] = [];
      slots.forEach((server, at) => {
        if (server === undefined || servers.includes(server)) return;
        commands.push(`set server pods/pod${at + 1} state maint`);
        slots[at] = undefined;
      });
      for (const server of servers.filter((each) => !slots.includes(each))) {
        const free = slots.indexOf(undefined);
        if (free < 0) throw new Error(`more than ${SLOTS} servers`);
        slots[free] = server;
        const [host, port] = server.split(':');
        commands.push(`set server pods/pod${free + 1} addr ${host} port ${port}`);
        commands.push(`set server pods/pod${free + 1} state ready`);
      }
      if (commands.length > 0) await command(socket, commands.join(';'));
    },
    stop: () => program.stop(1_000),
  };
}

async function command(path: string, line: string): Promise<string> {
  const client = connect(path);
  client.write(`${line}\n`);
  return text(client);
}
