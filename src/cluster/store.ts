import { isDeepStrictEqual } from 'node:util';

/** What of a Kubernetes object is needed to keep it in step. */
export interface KubernetesObject {
  readonly metadata?: {
    readonly name?: string;
    readonly namespace?: string;
    readonly resourceVersion?: string;
    readonly labels?: Readonly<Record<string, string>>;
  };
}

/** `name`, or `namespace/name` of a namespaced object. */
export function keyOf({ metadata }: KubernetesObject): string {
  return metadata?.namespace ? `${metadata.namespace}/${metadata.name}` : String(metadata?.name);
}

/**
 * Whether resource version `a` comes after `b`. Both are decimal integers that are ordered within one resource
 * (Kubernetes 1.35, KEP-5504), too large for a number.
 */
export function newer(a: string, b: string): boolean {
  return a.length === b.length ? a > b : a.length > b.length;
}

/** An object reduced to what is kept of it. */
export interface Versioned<T> {
  readonly resourceVersion: string;
  readonly value: T;
}

/** The reduced objects of one resource. */
export interface Store<T> {
  readonly size: number;
  get(key: string): T | undefined;
  /** The object with its version. */
  last(key: string): Versioned<T> | undefined;
  values(): T[];
  entries(): [string, T][];
  /** Takes an event of the watch. Says whether it changed anything. */
  set(key: string, object: Versioned<T>): boolean;
  /** Takes an object that another request read, perhaps before the watch tells of it. */
  setAhead(key: string, object: Versioned<T>): boolean;
  /** Takes a deletion that happened at `resourceVersion`. */
  delete(key: string, resourceVersion: string): boolean;
  /** Makes a full list of `resourceVersion` the content. Returns what it changed, undefined for what went. */
  replace(list: ReadonlyMap<string, Versioned<T>>, resourceVersion: string): ReadonlyMap<string, T | undefined>;
}

/**
 * An empty store. List and watch are taken as they come, whatever their versions: those of an etcd restored from a
 * backup are lower than before. Only an object read ahead is kept against older news, until the next list but one.
 */
export function createStore<T>(): Store<T> {
  const objects = new Map<string, Versioned<T>>();
  const ahead = new Set<string>();

  const isOld = (key: string, resourceVersion: string): boolean =>
    ahead.has(key) && newer(objects.get(key)?.resourceVersion ?? '', resourceVersion);
  /** Kubelets write their Node every few minutes; what we keep of it seldom changes, and then stays the same object. */
  const put = (key: string, { resourceVersion, value }: Versioned<T>): boolean => {
    const known = objects.get(key);
    const same = known !== undefined && isDeepStrictEqual(known.value, value);
    objects.set(key, { resourceVersion, value: same ? known.value : value });
    return !same;
  };
  const set = (key: string, object: Versioned<T>): boolean => {
    if (isOld(key, object.resourceVersion)) return false;
    ahead.delete(key);
    return put(key, object);
  };
  const remove = (key: string): boolean => {
    ahead.delete(key);
    return objects.delete(key);
  };

  return {
    get size() {
      return objects.size;
    },
    get: (key) => objects.get(key)?.value,
    last: (key) => objects.get(key),
    values: () => Array.from(objects.values(), ({ value }) => value),
    entries: () => Array.from(objects, ([key, { value }]) => [key, value]),
    set,
    setAhead(key, object) {
      const known = objects.get(key);
      if (known && !newer(object.resourceVersion, known.resourceVersion)) return false;
      ahead.add(key);
      return put(key, object);
    },
    delete: (key, resourceVersion) => !isOld(key, resourceVersion) && remove(key),
    replace(list, resourceVersion) {
      const changes = new Map<string, T | undefined>();
      for (const key of [...objects.keys()]) {
        if (!list.has(key) && !isOld(key, resourceVersion) && remove(key)) changes.set(key, undefined);
      }
      for (const [key, object] of list) {
        if (set(key, object)) changes.set(key, object.value);
      }
      ahead.clear();
      return changes;
    },
  };
}
