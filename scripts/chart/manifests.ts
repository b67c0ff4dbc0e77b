import { parseAllDocuments, stringify } from 'yaml';
import { gpuPolicyCrd } from '../../src/registration/crd.ts';
import { CHART, type Helm, mustHelm } from '../../test/cluster/helm.ts';

interface Manifest {
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly labels?: Readonly<Record<string, string>> };
}

const NAMESPACE = 'gpugate';
const MADE = 'Made by `npm run manifests` from deploy/chart/gpugate';

/** Restricted Pod Security is enforced, since gpugate needs no more. */
const namespace = {
  apiVersion: 'v1',
  kind: 'Namespace',
  metadata: {
    name: NAMESPACE,
    labels: {
      'pod-security.kubernetes.io/enforce': 'restricted',
      'pod-security.kubernetes.io/enforce-version': 'latest',
    },
  },
};

/** deploy/install.yaml and deploy/kustomize, as the chart renders its defaults; without its hooks, which only Helm runs. */
export async function manifests(helm: Helm): Promise<readonly { readonly path: string; readonly text: string }[]> {
  const args = ['template', 'gpugate', CHART, '--namespace', NAMESPACE, '--no-hooks'];
  const byFile = new Map<string, readonly object[]>([
    ['namespace.yaml', [namespace]],
    ['crd.yaml', [gpuPolicyCrd()]],
    ...sources(await mustHelm(helm, args)),
  ]);
  const kustomization = {
    apiVersion: 'kustomize.config.k8s.io/v1beta1',
    kind: 'Kustomization',
    resources: [...byFile.keys()],
  };
  return [
    { path: 'deploy/install.yaml', text: write(`${MADE}: see docs/install.md.`, [...byFile.values()].flat()) },
    {
      path: 'deploy/kustomize/kustomization.yaml',
      text: write(`${MADE}: a base for overlays of your own.`, [kustomization]),
    },
    ...Array.from(byFile, ([file, objects]) => ({
      path: `deploy/kustomize/${file}`,
      text: write(`${MADE}.`, objects),
    })),
  ];
}

/** What `helm template` prints, by the name of the template that each object comes from. */
function sources(printed: string): ReadonlyMap<string, readonly object[]> {
  const files = new Map<string, object[]>();
  for (const part of printed.split(/^---$/m)) {
    const [document] = parseAllDocuments(part);
    if (!document?.contents) continue;
    const file = /^# Source: gpugate\/templates\/(\S+)/m.exec(part)?.[1] ?? 'other.yaml';
    files.set(file, [...(files.get(file) ?? []), withoutHelm(document.toJS())]);
  }
  return files;
}

/** Labels that say Helm keeps the object. */
function withoutHelm(manifest: Manifest): Manifest {
  const { 'helm.sh/chart': _, 'app.kubernetes.io/managed-by': __, ...labels } = manifest.metadata.labels ?? {};
  return { ...manifest, metadata: { ...manifest.metadata, labels } };
}

function write(head: string, objects: readonly object[]): string {
  // YAML 1.1, as kubectl reads it.
  const options = { version: '1.1', lineWidth: 0, aliasDuplicateObjects: false } as const;
  return `# ${head}\n${objects.map((object) => stringify(object, options)).join('---\n')}`;
}
