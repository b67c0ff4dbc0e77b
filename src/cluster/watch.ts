import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import { type Backoff, DEFAULT_BACKOFF, delayAfter } from './backoff.ts';
import { type ApiClient, ApiError } from './client.ts';
import { LostTrack, listPages, watchEvents } from './listwatch.ts';
import type { WatchState } from './source.ts';
import { createStore, type KubernetesObject, keyOf, newer, type Store, type Versioned } from './store.ts';

/** Where a watch tells what happens to it. */
export type WatchLog = Pick<Logger, 'info' | 'warn' | 'error'>;

export interface WatchOptions<T> {
  /** Plural name, for log and metrics: `nodes`. */
  readonly resource: string;
  /** Path of the collection: `/api/v1/nodes`. */
  readonly path: string;
  /** Watches only the object of this name; may then be allowed by name too (RBAC `resourceNames`). */
  readonly name?: string;
  readonly log: WatchLog;
  /** What is kept of an object; may throw for one it can't read, which is logged and passed over. */
  reduce(object: KubernetesObject): T;
  /** Told of every change, undefined for a deletion. May throw; the watch goes on. */
  onChange?(key: string, value: T | undefined): void;
  /** What to say, once, when the API server does not know the resource. Its CRD may come later: until then it counts as an empty list. */
  readonly absent?: string;
  readonly timing?: Partial<WatchTiming>;
}

/** Times in milliseconds, for tests to shorten. */
export interface WatchTiming {
  readonly backoff: Backoff;
  /** A watch that lived this long was a good one: the next failure is a first failure. */
  readonly healthyMs: number;
  /** A connection that has been silent this long is given up. */
  readonly silenceMs: number;
  /** The server is asked to end a watch after this time, plus up to as much again. */
  readonly watchMs: number;
  /** A resource that the API server does not know is asked for again after this time. */
  readonly absentMs: number;
  /** All is listed afresh after this time, in case an event was lost on the way. */
  readonly relistMs: number;
}

const DEFAULT_TIMING: WatchTiming = {
  backoff: DEFAULT_BACKOFF,
  healthyMs: 10_000,
  silenceMs: 90_000, // Bookmarks come every minute (k8s.io/apiserver pkg/storage/cacher, bookmarkFrequency).
  watchMs: 5 * 60_000, // As client-go: 5 to 10 minutes (tools/cache/reflector.go, minWatchTimeout).
  absentMs: 5000,
  relistMs: 30 * 60_000,
};

/** An API server that refuses our version in some other way than 410 (etcd restored from a backup) must not be asked for ever. */
const TRIES_BEFORE_LIST = 5;

/** One resource, kept in memory. */
export interface Watch<T> {
  get(key: string): T | undefined;
  values(): T[];
  entries(): [string, T][];
  /** Takes in an object that came from another request; ignored when the watch knows better. */
  put(object: KubernetesObject): void;
  state(): WatchState;
  /** Ends the watch; resolves when its last request is over. */
  close(): Promise<void>;
}

/**
 * Lists a resource and watches it until `close`. It lists again when the API server has forgotten where we were (410),
 * when a line was unreadable and from time to time; any other failure resumes where it was, after a delay that grows.
 * One loop does it all, so that two watches are never open at once.
 */
export function startWatch<T>(client: ApiClient, options: WatchOptions<T>): Watch<T> {
  const { resource, path, log } = options;
  const only = options.name === undefined ? {} : { fieldSelector: `metadata.name=${options.name}` };
  const timing = { ...DEFAULT_TIMING, ...options.timing };
  const store: Store<T> = createStore();
  const closing = new AbortController();
  let resourceVersion: string | undefined;
  let listedAt = 0;
  let lastEventAt: number | undefined;
  let synced = false;
  let absent = false;
  let lists = 0;
  let failures = 0;
  let faults = 0;

  const fault = (error: unknown, key: string, message: string) => {
    faults += 1;
    log.error({ err: error, resource, key }, message);
  };
  const tell = (key: string, value: T | undefined) => {
    try {
      options.onChange?.(key, value);
    } catch (error) {
      fault(error, key, 'a handler of the watch threw');
    }
  };
  /** The reduced object; undefined when it can't be read, and then its last good state stays. */
  const reduce = (object: KubernetesObject): Versioned<T> | undefined => {
    try {
      return { resourceVersion: object.metadata?.resourceVersion ?? '', value: options.reduce(object) };
    } catch (error) {
      fault(error, keyOf(object), 'an object of the watch cannot be read');
      return undefined;
    }
  };

  /** Takes a whole list as what is there now. */
  const replace = (objects: ReadonlyMap<string, Versioned<T>>, version: string) => {
    const changes = store.replace(objects, version);
    synced = true;
    for (const [key, value] of changes) tell(key, value);
  };

  async function list(): Promise<void> {
    const objects = new Map<string, Versioned<T>>();
    let version = '';
    for await (const page of listPages(client, path, closing.signal, only)) {
      lastEventAt = Date.now();
      version = page.resourceVersion;
      for (const object of page.items) {
        const key = keyOf(object);
        const reduced = reduce(object) ?? store.last(key);
        if (reduced) objects.set(key, reduced);
      }
    }
    resourceVersion = version;
    listedAt = Date.now();
    lists += 1;
    if (!synced || absent) log.info({ resource, objects: objects.size }, 'the watch is synced');
    absent = false;
    replace(objects, version);
  }

  /** Whether the resource is not there at all, as long as nobody has installed its CRD. */
  function isAbsent(error: unknown): boolean {
    if (options.absent === undefined || !(error instanceof ApiError) || error.status !== 404) return false;
    if (!absent) log.warn({ resource }, options.absent);
    absent = true;
    resourceVersion = undefined;
    lastEventAt = Date.now();
    replace(new Map(), '');
    return true;
  }

  async function watch(from: string): Promise<void> {
    const timeoutSeconds = Math.ceil((timing.watchMs * (1 + Math.random())) / 1000);
    const request = { path, ...only, resourceVersion: from, timeoutSeconds, silenceMs: timing.silenceMs };
    for await (const event of watchEvents(client, request, closing.signal)) {
      lastEventAt = Date.now();
      resourceVersion = event.resourceVersion;
      if (event.type === 'BOOKMARK') continue;
      const key = keyOf(event.object);
      if (event.type === 'DELETED') {
        if (store.delete(key, event.resourceVersion)) tell(key, undefined);
        continue;
      }
      const reduced = reduce(event.object);
      if (reduced && store.set(key, reduced)) tell(key, reduced.value);
    }
  }

  async function run(): Promise<void> {
    let inARow = 0;
    while (!closing.signal.aborted) {
      const started = Date.now();
      let retryAfterMs = 0;
      let problem: Error | undefined;
      try {
        if (resourceVersion === undefined || started - listedAt > timing.relistMs) await list();
        await watch(resourceVersion as string);
      } catch (error) {
        if (!closing.signal.aborted && isAbsent(error)) {
          await sleep(timing.absentMs, undefined, { signal: closing.signal }).catch(() => {});
          continue;
        }
        problem = error as Error;
        if (error instanceof LostTrack || inARow >= TRIES_BEFORE_LIST) resourceVersion = undefined;
        if (error instanceof ApiError) retryAfterMs = error.retryAfterMs;
      }
      if (closing.signal.aborted) return;
      const lived = Date.now() - started;
      if (lived > timing.healthyMs) inARow = 0;
      if (!problem && lived > timing.healthyMs) continue;
      inARow += 1;
      failures += 1;
      const delayMs = Math.round(delayAfter(inARow, timing.backoff, retryAfterMs));
      log.warn(
        { resource, reason: problem?.message ?? 'ended by the server', inARow, delayMs },
        'the watch ended early',
      );
      await sleep(delayMs, undefined, { signal: closing.signal }).catch(() => {});
    }
  }

  const running = run();
  return {
    get: store.get,
    values: store.values,
    entries: store.entries,
    put(object) {
      const key = keyOf(object);
      const reduced = reduce(object);
      // Not there though the watch is past this version: it was deleted while the request was under way.
      const deleted =
        !store.last(key) && resourceVersion !== undefined && !newer(reduced?.resourceVersion ?? '', resourceVersion);
      if (reduced && !deleted && store.setAhead(key, reduced)) tell(key, reduced.value);
    },
    state: () => ({ resource, synced, lastEventAt, objects: store.size, lists, failures, faults }),
    async close() {
      closing.abort();
      await running;
    },
  };
}
