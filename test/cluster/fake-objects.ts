import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import jsonPatch from 'fast-json-patch';
import { type ApiClient, connect } from '../../src/cluster/client.ts';

interface Stored {
  metadata: { name: string; resourceVersion?: string; annotations?: Record<string, string>; [more: string]: unknown };
  [more: string]: unknown;
}

interface Refusal {
  readonly status: number;
  readonly message: string;
}

const FULL: Refusal = { status: 500, message: 'etcdserver: mvcc: database space exceeded' };

/**
 * An API server of named objects in collections: GET, list and watch by name, POST, and PATCH by merge and JSON patches, with
 * conflicts by resourceVersion as the real one has them.
 */
export class FakeObjects {
  /** By path. */
  readonly objects = new Map<string, Stored>();
  /** Method and path of each request but those of lists and watches. */
  readonly requests: string[] = [];
  /** Answers instead of the usual: with what it returns, or to true as an etcd that is full makes it. */
  refuse: ((method: string, path: string) => boolean | Refusal) | undefined;
  /** Told of each object that was put or patched. */
  onPut: ((path: string) => void) | undefined;
  /** What the Date of each answer shows. */
  now: () => Date = () => new Date();
  #version = 100;
  /** All that ever happened, for watches that start from before. */
  readonly #events: { readonly path: string; readonly version: number; readonly line: string }[] = [];
  readonly #watches = new Set<{ collection: string; name: string; response: ServerResponse }>();
  readonly #server = createServer((request, response) => this.#answer(request, response));

  async start(): Promise<void> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** The project's own client for it, by way of another port if one is given. */
  async client(port = this.port): Promise<ApiClient> {
    const dir = await mkdtemp(join(tmpdir(), 'gpugate-api-'));
    try {
      return await connect(await this.kubeconfig(dir, port));
    } finally {
      await rm(dir, { recursive: true });
    }
  }

  /** Writes a kubeconfig into a directory; its path. */
  kubeconfig(dir: string, port = this.port): Promise<string> {
    return writeKubeconfig(dir, port);
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  /** Puts an object there, as another client would; undefined deletes it. */
  put(path: string, object: Stored | undefined): Stored | undefined {
    const before = this.objects.get(path);
    this.#version += 1;
    const resourceVersion = String(this.#version);
    const stored = object && { ...object, metadata: { ...object.metadata, resourceVersion } };
    if (stored) this.objects.set(path, stored);
    else this.objects.delete(path);
    const type = stored ? (before ? 'MODIFIED' : 'ADDED') : 'DELETED';
    const shown = stored ?? { ...before, metadata: { ...before?.metadata, resourceVersion } };
    this.#events.push({ path, version: this.#version, line: `${JSON.stringify({ type, object: shown })}\n` });
    for (const { collection, name, response } of this.#watches) {
      if (path === `${collection}/${name}`) response.write(this.#events.at(-1)?.line);
    }
    this.onPut?.(path);
    return stored;
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    response.setHeader('date', this.now().toUTCString());
    const { method = '' } = request;
    const { pathname, searchParams } = new URL(request.url ?? '', 'http://api');
    const name = searchParams.get('fieldSelector')?.replace('metadata.name=', '');
    const refusal = this.refuse?.(method, pathname);
    if (refusal) {
      const { status, message } = refusal === true ? FULL : refusal;
      return json(response, status, { message });
    }
    if (searchParams.has('watch')) {
      return this.#watch(pathname, name ?? '', Number(searchParams.get('resourceVersion')), response);
    }
    if (name !== undefined) {
      const found = this.objects.get(`${pathname}/${name}`);
      return json(response, 200, { metadata: { resourceVersion: String(this.#version) }, items: found ? [found] : [] });
    }
    this.requests.push(`${method} ${pathname}`);
    const body = await text(request);
    const found = this.objects.get(pathname);
    if (method === 'POST') {
      const object: Stored = JSON.parse(body);
      const path = `${pathname}/${object.metadata.name}`;
      if (this.objects.has(path)) return json(response, 409, { message: 'already exists' });
      return json(response, 201, this.put(path, object));
    }
    if (!found) return json(response, 404, { message: 'not found' });
    if (method === 'GET') return json(response, 200, found);
    const isJsonPatch = request.headers['content-type'] === 'application/json-patch+json';
    try {
      const next = isJsonPatch
        ? jsonPatch.applyPatch(structuredClone(found), JSON.parse(body), true).newDocument
        : merged(found, JSON.parse(body));
      if (next.metadata.resourceVersion !== found.metadata.resourceVersion)
        return json(response, 409, { message: 'conflict' });
      return json(response, 200, this.put(pathname, next));
    } catch {
      return json(response, 422, { message: 'the server rejected our request due to an error in our request' });
    }
  }

  #watch(collection: string, name: string, from: number, response: ServerResponse): void {
    response.writeHead(200, { 'content-type': 'application/json' }).flushHeaders();
    for (const { path, version, line } of this.#events) {
      if (version > from && path === `${collection}/${name}`) response.write(line);
    }
    const watch = { collection, name, response };
    this.#watches.add(watch);
    response.on('close', () => this.#watches.delete(watch));
  }
}

/** RFC 7396. */
function merged<T>(target: T, patch: unknown): T {
  if (typeof patch !== 'object' || patch === null || Array.isArray(patch)) return patch as T;
  const result: Record<string, unknown> = { ...(target as object) };
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) delete result[key];
    else result[key] = merged(result[key], value);
  }
  return result as T;
}

function json(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}

/** Writes a kubeconfig for an API server that speaks plain HTTP on this machine into a directory; its path. */
export async function writeKubeconfig(dir: string, port: number): Promise<string> {
  const config = {
    clusters: [{ name: 'a', cluster: { server: `http://127.0.0.1:${port}`, 'insecure-skip-tls-verify': true } }],
    users: [{ name: 'a', user: { token: 'a-token' } }],
    contexts: [{ name: 'a', context: { cluster: 'a', user: 'a' } }],
    'current-context': 'a',
  };
  await writeFile(join(dir, 'kubeconfig'), JSON.stringify(config));
  return join(dir, 'kubeconfig');
}
