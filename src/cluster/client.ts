import type { RequestContext, ResponseContext } from '@kubernetes/client-node';
import { chooseCluster } from './kubeconfig.ts';

/** An answer of the API server other than 200 or 201. */
export class ApiError extends Error {
  readonly status: number;
  /** What its Retry-After header asks for. */
  readonly retryAfterMs: number;

  constructor(status: number, message: string, retryAfterMs = 0) {
    super(message);
    this.name = 'ApiError';
    this.status = status;
    this.retryAfterMs = retryAfterMs;
  }
}

/** Query parameters of a request; undefined ones are left out. */
type Query = Readonly<Record<string, string | number | boolean | undefined>>;

/** The ways in which gpugate speaks with an API server. All throw ApiError for an answer other than 200 or 201. */
export interface ApiClient {
  /** The namespace of the context; `default` where it names none. */
  readonly namespace: string;
  /** The JSON at a path. */
  get(path: string, query: Query, signal: AbortSignal): Promise<unknown>;
  /** The lines of a streamed answer, as they come; ends when the server closes, throws when the connection breaks. */
  lines(path: string, query: Query, signal: AbortSignal): AsyncIterable<string>;
  /** What the API server would make of an object that is created in a collection: a dry run, which stores nothing. */
  tryCreate(path: string, object: object, signal: AbortSignal): Promise<TriedCreate>;
  /** Changes the object at a path once, by a JSON merge patch, or by the operations of a JSON Patch (RFC 6902). */
  patch(path: string, patch: object | readonly Operation[], signal: AbortSignal): Promise<void>;
  /**
   * Server-side apply of the object at a path, over what others own of its fields: those of an earlier apply by the same field
   * manager that are not in it now go. Adds it where there is none, and is true then.
   */
  apply(path: string, object: object, fieldManager: string, signal: AbortSignal): Promise<boolean>;
  /** Adds an object to the collection at a path, once. */
  create(path: string, object: object, signal: AbortSignal): Promise<void>;
  /** Deletes the object at a path. Throws ApiError 404 where there is none. */
  remove(path: string, signal: AbortSignal): Promise<void>;
  /**
   * What the API server's clock shows, by the Date of its latest answer, to the second; undefined before the first one. Changes of
   * our own clock have no part in it.
   */
  now(): Date | undefined;
  /** Ends idle connections. */
  close(): Promise<void>;
}

/** The object as it would be stored, and the warnings that came with it. */
export interface TriedCreate {
  readonly object: unknown;
  readonly warnings: readonly string[];
}

/** One step of a JSON Patch. */
export interface Operation {
  readonly op: 'add' | 'test';
  readonly path: string;
  readonly value: unknown;
}

type Dispatcher = NonNullable<ReturnType<RequestContext['getDispatcher']>>;
/** Connections that are shared by requests. Without a dispatcher they are Node's own: plain HTTP without credentials. */
type Pool = { readonly dispatcher: Dispatcher | undefined; readonly since: number };
type Answer = {
  readonly status: number;
  readonly body: ResponseContext['body'];
  readonly headers: ResponseContext['headers'];
  readonly used: Pool;
};
type Sent = { readonly method: 'PATCH' | 'POST' | 'DELETE'; readonly type: string; readonly object: object };

/** Connections are renewed after this time, so that a rotated CA or client certificate takes effect. */
const RENEW_CONNECTIONS_MS = 10 * 60_000;

/** etcd takes 1.5 MiB an object, gRPC's and the API server's limits are 2 to 3 MiB: a longer line is not an event. */
const LONGEST_LINE = 8 << 20;

/**
 * A client for the cluster of a kubeconfig file, or else of KUBECONFIG, ~/.kube/config or the pod's service account; `context`
 * names another context than the current one. Throws an Error that names the file when there is none.
 *
 * The only file that uses @kubernetes/client-node, for kubeconfig, credentials and transport; imported when first
 * needed, for it takes longer to load than the rest of gpugate. Its informer and Watch are not used: the former ends at
 * the first error (2.0.1, dist/cache.js doneHandler), the latter passes over lines it can't parse (dist/watch.js).
 */
export async function connect(kubeconfig?: string, context?: string): Promise<ApiClient> {
  const { IsomorphicFetchHttpLibrary, HttpMethod, KubeConfig, RequestContext } = await import(
    '@kubernetes/client-node'
  );
  const config = new KubeConfig();
  const server = chooseCluster(config, kubeconfig, context);
  const http = new IsomorphicFetchHttpLibrary();
  let pool: Pool | undefined;
  const retired = new Set<Dispatcher>();
  let clock: { readonly shown: number; readonly at: number } | undefined;

  async function send(path: string, query: Query, signal: AbortSignal, sent?: Sent): Promise<Answer> {
    const context = new RequestContext(server + path, HttpMethod[sent?.method ?? 'GET']);
    if (sent) {
      context.setHeaderParam('Content-Type', sent.type);
      context.setBody(JSON.stringify(sent.object));
    }
    for (const [key, value] of Object.entries(query)) {
      if (value !== undefined) context.setQueryParam(key, String(value));
    }
    await config.applySecurityAuthentication(context);
    context.setHeaderParam('Accept', 'application/json');
    context.setHeaderParam('User-Agent', 'gpugate');
    context.setSignal(signal);
    // client-node makes new connections for every request (dist/config.js createDispatcher); ours are kept.
    if (pool && Date.now() - pool.since > RENEW_CONNECTIONS_MS) retire(pool);
    pool ??= { dispatcher: context.getDispatcher(), since: Date.now() };
    const used = pool;
    if (used.dispatcher) context.setDispatcher(used.dispatcher);
    const response = await guard(used, http.send(context).toPromise());
    const { httpStatusCode: status, headers, body } = response;
    const shown = Date.parse(headers.date ?? '');
    if (!Number.isNaN(shown)) clock = { shown, at: performance.now() };
    if (status !== 200 && !(sent && status === 201)) throw await apiError(response);
    return { status, body, headers, used };
  }

  /**
   * A request that failed or was given up may have met a connection that is dead without a word. Over HTTP/2 the next one
   * would share it until TCP gives up, a quarter of an hour later, so the next one gets a new connection.
   */
  async function guard<T>(used: Pool, answer: Promise<T>): Promise<T> {
    try {
      return await answer;
    } catch (error) {
      retire(used);
      throw readable(error as Error);
    }
  }

  /** Requests that are under way go on; new ones don't use it. */
  function retire(used: Pool): void {
    if (pool === used) pool = undefined;
    const { dispatcher } = used;
    if (!dispatcher || retired.has(dispatcher)) return;
    retired.add(dispatcher);
    dispatcher.close().then(
      () => retired.delete(dispatcher),
      () => retired.delete(dispatcher),
    );
  }

  return {
    namespace: config.getContextObject(config.getCurrentContext())?.namespace ?? 'default',
    async get(path, query, signal) {
      const { body, used } = await send(path, query, signal).catch((error: Error) => {
        if (error instanceof ApiError || signal.aborted) throw error;
        // An idle connection may have outlived the API server; a fresh one tells.
        return send(path, query, signal);
      });
      return JSON.parse(await guard(used, body.text()));
    },
    async *lines(path, query, signal) {
      const { body, used } = await send(path, query, signal);
      const stream = body.stream() as AsyncIterable<Uint8Array> | null;
      if (!stream) return;
      try {
        yield* splitLines(stream);
      } catch (error) {
        retire(used);
        throw error;
      }
    },
    async tryCreate(path, object, signal) {
      const sent = { method: 'POST', type: 'application/json', object } as const;
      const { body, headers, used } = await send(path, { dryRun: 'All' }, signal, sent);
      return { object: JSON.parse(await guard(used, body.text())), warnings: warningTexts(headers.warning) };
    },
    async patch(path, patch, signal) {
      const type = `application/${Array.isArray(patch) ? 'json' : 'merge'}-patch+json`;
      const { body, used } = await send(path, {}, signal, { method: 'PATCH', type, object: patch });
      await guard(used, body.text());
    },
    async apply(path, object, fieldManager, signal) {
      // JSON is YAML.
      const sent = { method: 'PATCH', type: 'application/apply-patch+yaml', object } as const;
      const { status, body, used } = await send(path, { fieldManager, force: true }, signal, sent);
      await guard(used, body.text());
      return status === 201;
    },
    async create(path, object, signal) {
      const { body, used } = await send(path, {}, signal, { method: 'POST', type: 'application/json', object });
      await guard(used, body.text());
    },
    async remove(path, signal) {
      // A path without a name is that of a whole collection.
      if (!/^(\/[^/?#]+)+$/.test(path) || path.includes('..')) throw new Error(`${path} is not the path of one object`);
      const object = { apiVersion: 'v1', kind: 'DeleteOptions' };
      const { body, used } = await send(path, {}, signal, { method: 'DELETE', type: 'application/json', object });
      await guard(used, body.text());
    },
    now: () => clock && new Date(clock.shown + performance.now() - clock.at),
    async close() {
      if (pool) retire(pool);
      await Promise.all(Array.from(retired, (dispatcher) => dispatcher.destroy()));
    },
  };
}

/** The texts of a Warning header: `299 - "text"`, several parted by commas. */
function warningTexts(header = ''): readonly string[] {
  return [...header.matchAll(/299 \S+ "((?:[^"\\]|\\.)*)"/g)].map(([, quoted = '']) => quoted.replace(/\\(.)/g, '$1'));
}

async function apiError(response: ResponseContext): Promise<ApiError> {
  const text = await response.body.text().catch(() => '');
  const retryAfterMs = Number(response.headers['retry-after'] ?? 0) * 1000 || 0;
  return new ApiError(response.httpStatusCode, messageOf(text) ?? `HTTP ${response.httpStatusCode}`, retryAfterMs);
}

/** The message of a Status object; else the first part of the text. */
function messageOf(text: string): string | undefined {
  try {
    const status: unknown = JSON.parse(text);
    if (typeof status === 'object' && status !== null && 'message' in status) return String(status.message);
  } catch {
    // A proxy's page, or a plain text of the API server's filters.
  }
  return text.trim().slice(0, 200) || undefined;
}

/** undici says only "fetch failed"; the reason is the cause. */
function readable(error: Error): Error {
  const { cause } = error;
  return cause instanceof Error ? new Error(`${error.message}: ${cause.message || cause.name}`, { cause }) : error;
}

async function* splitLines(body: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const chunk of body) {
    const text = decoder.decode(chunk, { stream: true });
    rest += text;
    if (rest.length > LONGEST_LINE) throw new Error(`a line of a watch is longer than ${LONGEST_LINE} bytes`);
    if (!text.includes('\n')) continue;
    const lines = rest.split('\n');
    rest = lines.pop() ?? '';
    yield* lines;
  }
}
