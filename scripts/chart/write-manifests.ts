import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { helmFor } from '../../test/cluster/helm.ts';
import { manifests } from './manifests.ts';

// Writes deploy/install.yaml and deploy/kustomize; test/e2e/chart-manifests.test.ts fails when they differ. Needs Go the first time, for Helm.
const dir = await mkdtemp(join(tmpdir(), 'gpugate-helm-'));
const root = new URL('../../', import.meta.url);
try {
  const files = await manifests(await helmFor(dir, undefined, console.log));
  const base = new URL('deploy/kustomize/', root);
  for (const old of await readdir(base).catch(() => [])) await rm(new URL(old, base));
  for (const { path, text } of files) {
    await writeFile(new URL(path, root), text);
    console.log(path);
  }
} finally {
  await rm(dir, { recursive: true });
}
