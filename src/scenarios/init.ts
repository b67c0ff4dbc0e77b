import { isMap, isSeq, LineCounter, parseAllDocuments } from 'yaml';
import { type TemplateKinds, withTemplateKinds } from '../admission/template-kinds.ts';
import { yamlMistake } from '../files/yaml-mistake.ts';
import { yamlText } from '../files/yaml-text.ts';
import { contentIn } from './open.ts';

/** The files of a new scenario but for `expected.yaml`, by name. */
export type ScenarioFiles = Readonly<Record<string, string>>;

export interface NewScenario {
  /** `deployment-infer`, for a folder. */
  readonly name: string;
  readonly files: ScenarioFiles;
}

interface Found {
  readonly kind: string;
  readonly group: string;
  readonly name: string;
  readonly namespace: string | undefined;
  /** The document as it was written, or an item of a List by itself. */
  readonly text: string;
}

/** The file of a scenario for objects that the webhook knows of. */
const FILES: Readonly<Record<string, string>> = {
  'gpugate.dev/GpuPolicy': 'policy.yaml',
  '/Namespace': 'namespace.yaml',
  '/Node': 'nodes.yaml',
  '/ResourceQuota': 'limits.yaml',
  '/LimitRange': 'limits.yaml',
  'resource.k8s.io/DeviceClass': 'deviceclasses.yaml',
  'node.k8s.io/RuntimeClass': 'runtimeclasses.yaml',
};

/**
 * A scenario for every Pod and workload of a manifest. Policies, namespaces, nodes and the like of the same manifest go with each.
 * @throws Error with one line `file:line: what` for each document that can't be read.
 */
export function newScenarios(
  file: string,
  manifest: string,
  kinds: TemplateKinds = withTemplateKinds(),
): readonly NewScenario[] {
  const objects = objectsOf(file, manifest);
  const known: Record<string, string> = {};
  for (const { group, kind, text } of objects) {
    const target = FILES[`${group}/${kind}`];
    if (target !== undefined) known[target] = known[target] === undefined ? text : `${known[target]}---\n${text}`;
  }
  const inputs = objects.filter(({ group, kind }) => (group === '' && kind === 'Pod') || kinds.has(`${group}/${kind}`));
  return inputs.map(({ kind, name, namespace, text }) => ({
    name: `${kind}-${name}`.toLowerCase().replace(/[^a-z0-9]+/g, '-'),
    files: { ...known, 'namespace.yaml': known['namespace.yaml'] ?? plainNamespace(namespace), 'input.yaml': text },
  }));
}

function plainNamespace(name = 'team-a'): string {
  const object = { apiVersion: 'v1', kind: 'Namespace', metadata: { name } };
  return `# Labels such as gpugate.dev/policy: NAME choose the policy.\n${yamlText(object)}`;
}

function objectsOf(file: string, manifest: string): readonly Found[] {
  const lines = new LineCounter();
  const documents = parseAllDocuments(manifest, { lineCounter: lines, prettyErrors: false, merge: true });
  const mistakes = documents.flatMap(({ errors }) =>
    errors.map((error) => `${file}:${lines.linePos(error.pos[0]).line}: ${yamlMistake(error, manifest)}`),
  );
  if (mistakes.length > 0) throw new Error(mistakes.join('\n'));
  return documents.flatMap((document) => {
    const { contents } = document;
    if (!isMap(contents)) return [];
    const content = contentIn(file, manifest, document);
    const items = contents.get('items');
    if (String(contents.get('kind')).endsWith('List') && isSeq(items)) {
      return (content as { items: unknown[] }).items.map((item) => found(item, yamlText(item)));
    }
    const [start, , end] = contents.range ?? [0, 0, manifest.length];
    // From the start of its line, and with the comments above it.
    const from = Math.max(document.range[0], 0);
    const text = manifest
      .slice(Math.min(from, start), end)
      .replace(/^---.*\n/, '')
      .trimStart();
    return [found(content, text.endsWith('\n') ? text : `${text}\n`)];
  });
}

function found(object: unknown, text: string): Found {
  const {
    apiVersion = 'v1',
    kind = '',
    metadata,
  } = (object ?? {}) as {
    apiVersion?: string;
    kind?: string;
    metadata?: { name?: string; generateName?: string; namespace?: string };
  };
  return {
    group: apiVersion.includes('/') ? (apiVersion.split('/')[0] ?? '') : '',
    kind,
    name: metadata?.name ?? metadata?.generateName ?? 'unnamed',
    namespace: metadata?.namespace,
    text,
  };
}
