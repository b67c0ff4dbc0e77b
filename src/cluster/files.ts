import { z } from 'zod';
import { readGiven } from '../files/unread.ts';
import { parseManifest } from '../policy/manifest.ts';
import { which } from '../policy/mistakes.ts';
import type { ClusterSource, Labels, NodeInfo } from './source.ts';

export interface FileOptions {
  /** Path of a manifest of Namespaces. */
  readonly namespaces?: string;
  /** Path of a manifest of Nodes. */
  readonly nodes?: string;
}

const text = z.string(which('is not a text; quote it'));
const named = z.string(which('is not a name')).min(1);
const labelled = z.looseObject({ name: named, labels: z.record(z.string(), text).nullish() });
export const namespaceSchema = z.looseObject({ kind: z.literal('Namespace'), metadata: labelled });

/** Kubernetes decodes a bare number as a quantity too. */
const quantity = z.union([z.string(), z.number().transform(String)], which('is not a quantity'));
export const nodeSchema = z.looseObject({
  kind: z.literal('Node'),
  metadata: labelled,
  status: z.looseObject({ allocatable: z.record(z.string(), quantity).nullish() }).nullish(),
});

/**
 * Namespaces and nodes from manifests instead of a cluster, read once. A namespace that is not in the file does not exist.
 * Rejects with an AggregateError whose errors are the mistakes, `file:line: field and text` each, and whose message is all of them.
 */
export async function openFiles(options: FileOptions): Promise<ClusterSource> {
  const mistakes: string[] = [];
  const namespaces = new Map<string, Labels>();
  for (const { metadata } of await read(options.namespaces, 'Namespace', namespaceSchema, mistakes)) {
    namespaces.set(metadata.name, Object.freeze({ ...metadata.labels }));
  }
  const nodes: NodeInfo[] = [];
  for (const { metadata, status } of await read(options.nodes, 'Node', nodeSchema, mistakes)) {
    const labels = Object.freeze({ ...metadata.labels });
    const allocatable = Object.freeze({ ...status?.allocatable });
    nodes.push(Object.freeze({ name: metadata.name, labels, allocatable }));
  }
  if (mistakes.length > 0) {
    const errors = mistakes.map((mistake) => new Error(mistake));
    throw new AggregateError(errors, mistakes.join('\n'));
  }
  Object.freeze(nodes);
  return {
    known: (name) => namespaces.get(name),
    async namespaceLabels(name) {
      const labels = namespaces.get(name);
      return labels ? { found: true, labels } : { found: false };
    },
    namespaces: () => namespaces,
    nodes: () => nodes,
    synced: () => true,
    watches: () => [],
    close: async () => {},
  };
}

type Named = { readonly metadata: { readonly name: string } };

async function read<T extends Named>(
  file: string | undefined,
  kind: string,
  schema: z.ZodType<T>,
  mistakes: string[],
): Promise<T[]> {
  if (file === undefined) return [];
  let content: string;
  try {
    content = await readGiven(file);
  } catch (error) {
    mistakes.push((error as Error).message);
    return [];
  }
  const manifest = parseManifest(file, content, kind, schema);
  mistakes.push(...manifest.mistakes);
  const lines = new Map<string, number>();
  for (const { value, line } of manifest.objects) {
    const { name } = value.metadata;
    const first = lines.get(name);
    if (first !== undefined)
      mistakes.push(`${file}:${line}: metadata.name is ${name}, which is already at line ${first}`);
    lines.set(name, line);
  }
  return manifest.objects.map(({ value }) => value);
}
