import { type ApiClient, ApiError } from '../cluster/client.ts';
import { type Content, type SecretObject, writeContent } from './content.ts';

/** Name of an object that lies in a namespace. */
export interface NamespacedName {
  readonly namespace: string;
  readonly name: string;
}

/** The Secret that holds the certificates. Its methods throw ApiError. */
export interface SecretStore {
  /** As it stands in etcd, not in a cache; undefined when there is none. */
  read(signal: AbortSignal): Promise<SecretObject | undefined>;
  /** Writes over what was read, or makes it; false when another one was first. Other keys, labels and annotations stay. */
  write(read: SecretObject | undefined, content: Content, signal: AbortSignal): Promise<boolean>;
}

/** The collection that a Secret lies in. */
export function collectionOf({ namespace }: NamespacedName): string {
  return `/api/v1/namespaces/${encodeURIComponent(namespace)}/secrets`;
}

export function secretStore(client: Pick<ApiClient, 'get' | 'patch' | 'create'>, of: NamespacedName): SecretStore {
  const collection = collectionOf(of);
  const path = `${collection}/${encodeURIComponent(of.name)}`;
  return {
    async read(signal) {
      try {
        return (await client.get(path, {}, signal)) as SecretObject;
      } catch (error) {
        if (error instanceof ApiError && error.status === 404) return undefined;
        throw error;
      }
    },
    async write(read, content, signal) {
      const { data, annotations } = writeContent(content);
      const { resourceVersion } = read?.metadata ?? {};
      try {
        if (read) await client.patch(path, { metadata: { resourceVersion, annotations }, data }, signal);
        else await client.create(collection, newSecret(of, data, annotations), signal);
        return true;
      } catch (error) {
        // It changed, was deleted or was made since it was read. A namespace that is missing is no such race.
        if (error instanceof ApiError && (error.status === 409 || (read && error.status === 404))) return false;
        throw error;
      }
    },
  };
}

function newSecret(
  { namespace, name }: NamespacedName,
  data: object,
  annotations: Readonly<Record<string, string | null>>,
) {
  const set = Object.entries(annotations).filter(([, value]) => value !== null);
  const labels = { 'app.kubernetes.io/name': 'gpugate', 'app.kubernetes.io/managed-by': 'gpugate' };
  return {
    apiVersion: 'v1',
    kind: 'Secret',
    type: 'Opaque',
    metadata: { namespace, name, labels, annotations: Object.fromEntries(set) },
    data,
  };
}
