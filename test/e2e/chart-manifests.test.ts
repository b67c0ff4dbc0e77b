import { mkdir, readdir, readFile, realpath, writeFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { manifests } from '../../scripts/chart/manifests.ts';
import { whenReady } from '../cluster/component.ts';
import { type ControlPlane, startControlPlane } from '../cluster/controlplane.ts';
import { type Helm, helmFor } from '../cluster/helm.ts';
import { mustKubectl } from '../cluster/kubectl.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

let plane: ControlPlane;
let helm: Helm;
const kubectl = (args: string) => mustKubectl(plane.kubectl, args.split(' '));
const get = async (args: string) => JSON.parse(await kubectl(`get ${args} -o json`));
/** Pods that no kubelet starts here; that they are there says that Pod Security let them in. */
const podsIn = async (namespace: string) => (await get(`pods -n ${namespace}`)).items;

beforeAll(async () => {
  plane = await startControlPlane({ log: console.log });
  helm = await helmFor(plane.dir, undefined, console.log);
});
afterAll(() => plane?.stop());

test('install.yaml and the kustomize base are what the chart renders', async () => {
  const files = await manifests(helm);
  for (const { path, text } of files) {
    expect(await readFile(join(ROOT, path), 'utf8'), `${path}: run \`npm run manifests\``).toBe(text);
  }
  const base = 'deploy/kustomize/';
  const names = files.filter(({ path }) => path.startsWith(base)).map(({ path }) => path.slice(base.length));
  expect((await readdir(join(ROOT, base))).sort()).toEqual(names.sort());
});

test('install.yaml installs in one go', async () => {
  const { stderr } = await plane.kubectl(['apply', '--server-side', '-f', join(ROOT, 'deploy/install.yaml')]);
  expect(stderr).toBe('');
  await whenReady([], async () => (await podsIn('gpugate')).length === 2, 60_000);
  await kubectl(`delete -f ${join(ROOT, 'deploy/install.yaml')} --wait=true --timeout=90s`);
});

test('an overlay of the base has a namespace, an image and a number of replicas of its own', async () => {
  const overlay = join(await realpath(plane.dir), 'overlay');
  await mkdir(overlay);
  const kustomization = {
    resources: [relative(overlay, await realpath(join(ROOT, 'deploy/kustomize')))],
    namespace: 'gpu-admission',
    images: [{ name: 'gpugate', newName: 'registry.example/gpugate', newTag: '1.2.3' }],
    replicas: [{ name: 'gpugate', count: 3 }],
  };
  await writeFile(join(overlay, 'kustomization.yaml'), JSON.stringify(kustomization));
  const { stderr } = await plane.kubectl(['apply', '--server-side', '-k', overlay]);
  expect(stderr).toBe('');
  await whenReady([], async () => (await podsIn('gpu-admission')).length === 3, 60_000);
  for (const { spec } of await podsIn('gpu-admission')) {
    expect(spec.containers[0].image).toBe('registry.example/gpugate:1.2.3');
  }
  for (const kind of ['mutatingwebhookconfiguration', 'validatingwebhookconfiguration']) {
    for (const { clientConfig } of (await get(`${kind} gpugate`)).webhooks) {
      expect(clientConfig.service).toMatchObject({ namespace: 'gpu-admission', name: 'gpugate' });
    }
  }
  const [subject] = (await get('clusterrolebinding gpugate')).subjects;
  expect(subject).toMatchObject({ name: 'gpugate', namespace: 'gpu-admission' });
});
