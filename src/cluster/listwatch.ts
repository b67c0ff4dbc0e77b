import { type ApiClient, ApiError } from './client.ts';
import type { KubernetesObject } from './store.ts';

/** An event was missed, or may have been: only a full list says what is there now. */
export class LostTrack extends Error {
  override name = 'LostTrack';
}

/** One page of a list. The pages of one list share a resource version. */
export interface Page {
  readonly items: readonly KubernetesObject[];
  readonly resourceVersion: string;
  /** How many objects come after this page; undefined where the API server does not say. */
  readonly remaining: number | undefined;
}

/** One line of a watch. A BOOKMARK's object has a resource version only. */
export interface WatchEvent {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK';
  readonly object: KubernetesObject;
  readonly resourceVersion: string;
}

/** As client-go's pager: large enough for few round trips, small enough for the memory of both sides. */
const PAGE_SIZE = 500;
const PAGE_TIMEOUT_MS = 30_000;

/** What of a collection is asked for; all of it without a selector. */
export interface Selection {
  readonly fieldSelector?: string;
}

/** Lists a collection, page by page. */
export async function* listPages(
  client: ApiClient,
  path: string,
  signal: AbortSignal,
  selection: Selection = {},
): AsyncGenerator<Page> {
  let next: string | undefined;
  do {
    const limits = AbortSignal.any([signal, AbortSignal.timeout(PAGE_TIMEOUT_MS)]);
    const page = (await client.get(
      path,
      { ...selection, limit: PAGE_SIZE, continue: next },
      limits,
    )) as Partial<ListObject> | null;
    if (!page?.metadata?.resourceVersion) throw new Error(`the answer to a list of ${path} is not a list`);
    // Go encodes an empty list of some types as null.
    const { resourceVersion, remainingItemCount: remaining } = page.metadata;
    yield { items: page.items ?? [], resourceVersion, remaining };
    next = page.metadata.continue || undefined;
  } while (next);
}

interface ListObject {
  readonly metadata: {
    readonly resourceVersion?: string;
    readonly continue?: string;
    readonly remainingItemCount?: number;
  };
  readonly items: readonly KubernetesObject[] | null;
}

export interface WatchRequest extends Selection {
  readonly path: string;
  /** Events after this one are sent. */
  readonly resourceVersion: string;
  /** When the server shall end the watch. */
  readonly timeoutSeconds: number;
  /** How long the connection may be silent. */
  readonly silenceMs: number;
}

/** The events of one watch request, until the server ends it. Throws LostTrack, ApiError, or the connection's error. */
export async function* watchEvents(
  client: ApiClient,
  { path, fieldSelector, resourceVersion, timeoutSeconds, silenceMs }: WatchRequest,
  signal: AbortSignal,
): AsyncGenerator<WatchEvent> {
  const silence = new AbortController();
  const timer = setTimeout(() => silence.abort(new Error(`silent for ${silenceMs / 1000} s`)), silenceMs);
  const query = { watch: true, allowWatchBookmarks: true, fieldSelector, resourceVersion, timeoutSeconds };
  try {
    for await (const line of client.lines(path, query, AbortSignal.any([signal, silence.signal]))) {
      timer.refresh();
      if (line !== '') yield eventOf(line);
    }
  } catch (error) {
    if (silence.signal.aborted) throw silence.signal.reason;
    if (error instanceof ApiError && error.status === 410) throw new LostTrack(error.message);
    throw error;
  } finally {
    clearTimeout(timer);
  }
}

function eventOf(line: string): WatchEvent {
  const { type, object } = parse(line);
  if (type === 'ERROR') {
    throw new ApiError(Number(object?.code) || 500, String(object?.message ?? 'an ERROR event without a message'));
  }
  const resourceVersion = object?.metadata?.resourceVersion;
  if (!resourceVersion || !isType(type)) throw new LostTrack(`not an event of a watch: ${line.slice(0, 100)}`);
  return { type, object, resourceVersion };
}

type Line = { type?: unknown; object?: KubernetesObject & { code?: unknown; message?: unknown } };

function parse(line: string): Line {
  try {
    return (JSON.parse(line) as Line | null) ?? {};
  } catch {
    throw new LostTrack(`a line of the watch is not JSON: ${line.slice(0, 100)}`);
  }
}

function isType(type: unknown): type is WatchEvent['type'] {
  return type === 'ADDED' || type === 'MODIFIED' || type === 'DELETED' || type === 'BOOKMARK';
}
