import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ApiClient, connect } from '../../src/cluster/client.ts';
import type { KubernetesObject } from '../../src/cluster/store.ts';

/** An API server of one collection: a list, and a watch that sends what the test writes. */
export class FakeApiServer {
  objects: KubernetesObject[] = [];
  resourceVersion = 10;
  /** Answers instead of the usual, in turn; undefined is the usual. */
  readonly faults: (((request: URL, response: ServerResponse) => void) | undefined)[] = [];
  readonly lists: URL[] = [];
  readonly gets: string[] = [];
  readonly watches: URL[] = [];
  /** Watches open now, and the most there ever were at once. */
  readonly open = new Set<ServerResponse>();
  mostOpen = 0;
  readonly server: Server = createServer((request, response) => this.answer(request, response));

  answer(request: IncomingMessage, response: ServerResponse): void {
    const url = new URL(request.url ?? '', 'http://api');
    const [, name] = /^\/api\/v1\/\w+\/(.+)$/.exec(url.pathname) ?? [];
    const watching = url.searchParams.has('watch');
    if (name) this.gets.push(name);
    else (watching ? this.watches : this.lists).push(url);
    const fault = this.faults.shift();
    if (fault) fault(url, response);
    else if (name) this.get(name, response);
    else if (watching) this.watch(response);
    else this.list(url, response);
  }

  get(name: string, response: ServerResponse): void {
    const found = this.objects.find((object) => object.metadata?.name === name);
    if (found) json(response, 200, found);
    else status(404)(undefined, response);
  }

  list(url: URL, response: ServerResponse): void {
    const start = Number(url.searchParams.get('continue') ?? 0);
    const end = start + Math.min(2, Number(url.searchParams.get('limit')));
    const next = end < this.objects.length ? String(end) : undefined;
    const metadata = { resourceVersion: String(this.resourceVersion), continue: next };
    json(response, 200, { metadata, items: this.objects.slice(start, end) });
  }

  watch(response: ServerResponse): void {
    response.writeHead(200, { 'content-type': 'application/json' }).flushHeaders();
    this.open.add(response);
    this.mostOpen = Math.max(this.mostOpen, this.open.size);
    response.on('close', () => this.open.delete(response));
  }

  /** Listens, and returns the project's own client for it. */
  async start(): Promise<ApiClient> {
    await new Promise<void>((resolve) => this.server.listen(0, '127.0.0.1', resolve));
    const server = `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
    const config = {
      clusters: [{ name: 'a', cluster: { server, 'insecure-skip-tls-verify': true } }],
      users: [{ name: 'a', user: { token: 'a-token' } }],
      contexts: [{ name: 'a', context: { cluster: 'a', user: 'a' } }],
      'current-context': 'a',
    };
    const dir = await mkdtemp(join(tmpdir(), 'gpugate-api-'));
    try {
      await writeFile(join(dir, 'kubeconfig'), JSON.stringify(config));
      return await connect(join(dir, 'kubeconfig'));
    } finally {
      await rm(dir, { recursive: true });
    }
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }

  send(line: object | string): void {
    for (const response of this.open) response.write(`${typeof line === 'string' ? line : JSON.stringify(line)}\n`);
  }

  event(type: string, name: string, labels: Record<string, string> = {}): void {
    this.resourceVersion += 1;
    this.send({ type, object: namespace(name, labels, this.resourceVersion) });
  }
}

/** A Namespace, or any other object. */
export function namespace(name: string, labels: Record<string, string> = {}, version = 5) {
  return { metadata: { name, labels, resourceVersion: String(version) } };
}

function json(response: ServerResponse, status: number, body: object, headers: Record<string, string> = {}): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
}

/** Answers with a Status. */
export const status = (code: number, headers?: Record<string, string>) => (_url: unknown, response: ServerResponse) =>
  json(response, code, { kind: 'Status', code, message: `refused with ${code}` }, headers);
/** Breaks the connection. */
export const cut = (_url: unknown, response: ServerResponse): void => {
  response.destroy();
};
