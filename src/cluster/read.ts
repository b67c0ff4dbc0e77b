import { type ApiClient, ApiError } from './client.ts';
import { listPages } from './listwatch.ts';
import type { KubernetesObject } from './store.ts';

/** Undefined where it may not be read, or where the API server has no such resource. */
export async function optional<T>(read: () => Promise<T>): Promise<T | undefined> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof ApiError && (error.status === 403 || error.status === 404)) return undefined;
    throw error;
  }
}

/** Undefined where the API server has no such resource; one that may not be read rejects. */
export async function existing<T>(read: () => Promise<T>): Promise<T | undefined> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return undefined;
    throw error;
  }
}

/** A whole collection, or what selectors pick of it. */
export async function all(
  client: ApiClient,
  path: string,
  signal: AbortSignal,
  selectors: { readonly fieldSelector?: string; readonly labelSelector?: string } = {},
): Promise<readonly KubernetesObject[]> {
  const items: KubernetesObject[] = [];
  for await (const page of listPages(client, path, signal, selectors)) items.push(...page.items);
  return items;
}
