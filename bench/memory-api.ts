import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { Stored } from './memory-objects.ts';

/** An API server that holds its objects in memory: lists in pages, and watches. */
export interface MemoryApi {
  readonly url: string;
  /** Sends a change of every object to every watch, and a new object at the end of each collection. Resolves when all is sent. */
  change(round: number): Promise<void>;
  /** Says that it has forgotten where the watches were, as after a restart: all is listed again. */
  forget(): void;
  stop(): Promise<void>;
}

interface Collection {
  readonly objects: Stored[];
  readonly watches: Set<ServerResponse>;
}

const BOOKMARK_EVERY_MS = 60_000;

/** Serves the collections by their paths over TLS. Every token is good. */
export async function startApi(
  collections: ReadonlyMap<string, readonly Stored[]>,
  tls: { readonly cert: string; readonly key: string },
): Promise<MemoryApi> {
  const all = new Map<string, Collection>(
    [...collections].map(([path, objects]) => [path, { objects: [...objects], watches: new Set() }]),
  );
  let version = 1000;

  const server: Server = createServer(tls, (request, response) => {
    const url = new URL(request.url ?? '', 'https://api');
    request.resume();
    const collection = all.get(url.pathname);
    if (!collection) return answer(response, 404, { kind: 'Status', code: 404, message: 'not found' });
    if (!url.searchParams.has('watch')) return answer(response, 200, page(collection, url.searchParams, version));
    response.writeHead(200, { 'content-type': 'application/json' }).flushHeaders();
    collection.watches.add(response);
    response.on('close', () => collection.watches.delete(response));
  });

  async function send({ watches }: Collection, type: string, object: object): Promise<void> {
    const line = `${JSON.stringify({ type, object })}\n`;
    for (const watch of watches) {
      if (!watch.write(line) && !watch.destroyed) await drained(watch);
    }
  }
  const next = (object: Stored, more: object) => {
    version += 1;
    return { ...object, metadata: { ...object.metadata, resourceVersion: String(version), ...more } };
  };
  const bookmarks = setInterval(() => {
    for (const collection of all.values()) {
      send(collection, 'BOOKMARK', { metadata: { resourceVersion: String(version) } });
    }
  }, BOOKMARK_EVERY_MS);

  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `https://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async change(round) {
      for (const collection of all.values()) {
        const { objects } = collection;
        for (const [at, object] of objects.entries()) {
          const changed = next(object, { labels: { ...object.metadata.labels, 'example.com/round': String(round) } });
          objects[at] = changed;
          await send(collection, 'MODIFIED', changed);
        }
        const [first] = objects;
        if (!first) continue;
        const added = next(first, { name: `round-${round}` });
        objects.push(added);
        await send(collection, 'ADDED', added);
      }
    },
    forget() {
      const gone = { kind: 'Status', code: 410, message: 'too old resource version' };
      for (const { watches } of all.values()) {
        for (const watch of watches) watch.end(`${JSON.stringify({ type: 'ERROR', object: gone })}\n`);
      }
    },
    async stop() {
      clearInterval(bookmarks);
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

function page({ objects }: Collection, query: URLSearchParams, version: number): object {
  const start = Number(query.get('continue') ?? 0);
  const end = start + Number(query.get('limit') ?? objects.length);
  const metadata = { resourceVersion: String(version), ...(end < objects.length ? { continue: String(end) } : {}) };
  const items = objects
    .slice(start, end)
    .map((object) => ({ ...object, metadata: { resourceVersion: String(version), ...object.metadata } }));
  return { kind: 'List', metadata, items };
}

function answer(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}

/** Resolves when more can be written, or nothing at all any more. */
async function drained(response: ServerResponse): Promise<void> {
  const over = new AbortController();
  const { signal } = over;
  await Promise.race([once(response, 'drain', { signal }), once(response, 'close', { signal })]);
  over.abort();
}
