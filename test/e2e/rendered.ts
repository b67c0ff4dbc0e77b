import { expect } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { CHART, type Helm, mustHelm } from '../cluster/helm.ts';

/** An object as the chart renders it. */
export interface Manifest {
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
  };
  // biome-ignore lint/suspicious/noExplicitAny: objects of every kind, read where a test knows the kind.
  readonly [field: string]: any;
}

/** What `helm template` makes of the chart, as the release gpugate in the namespace gpugate. */
export async function render(helm: Helm, ...args: readonly string[]): Promise<readonly Manifest[]> {
  const printed = await mustHelm(helm, ['template', 'gpugate', CHART, '--namespace', 'gpugate', ...args]);
  const documents = parseAllDocuments(printed);
  // A key that stands twice, among others.
  expect(documents.flatMap(({ errors }) => errors.map(({ message }) => message))).toEqual([]);
  return documents.map((document) => document.toJS() as Manifest | null).filter((manifest) => manifest !== null);
}

/** The only object of its kind and name. */
export function one(manifests: readonly Manifest[], kind: string, name = 'gpugate'): Manifest {
  const found = manifests.find((manifest) => manifest.kind === kind && manifest.metadata.name === name);
  if (!found) throw new Error(`no ${kind} ${name}`);
  return found;
}
