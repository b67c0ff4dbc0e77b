import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

// The CustomResourceDefinitions that their projects publish, from the modules that hold them; checked by Go's checksum database.
const PUBLISHED = [
  {
    module: 'github.com/cert-manager/cert-manager@v1.21.2',
    files: ['deploy/crds/cert-manager.io_certificates.yaml', 'deploy/crds/cert-manager.io_issuers.yaml'],
  },
  {
    module: 'github.com/prometheus-operator/prometheus-operator@v0.85.0',
    files: ['servicemonitors', 'prometheusrules'].map(
      (plural) => `example/prometheus-operator-crd/monitoring.coreos.com_${plural}.yaml`,
    ),
  },
];

/** Manifests of the resources of cert-manager and of the Prometheus operator that the chart can use. Needs Go. */
export async function publishedCrds(): Promise<readonly string[]> {
  const manifests: string[] = [];
  for (const { module, files } of PUBLISHED) {
    const { stdout } = await promisify(execFile)('go', ['mod', 'download', '-json', module]);
    const { Dir: dir } = JSON.parse(stdout) as { readonly Dir: string };
    for (const file of files) manifests.push(await readFile(join(dir, file), 'utf8'));
  }
  return manifests;
}
