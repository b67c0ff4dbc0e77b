import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { client } from './client.ts';
import { gpugate, serve } from './gpugate.ts';

let dir: string;
let kinds: string;
let wrong: string;
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'gpugate-'));
  kinds = join(dir, 'kinds.yaml');
  wrong = join(dir, 'wrong.yaml');
  await writeFile(kinds, '- {group: example.com, kind: Run, plural: runs, paths: ["spec.workers[*].template"]}\n');
  await writeFile(wrong, '- group: example.com\n  kind: Run\n  plural: runs\n  paths: [/spec/template]\n');
});
afterAll(() => rm(dir, { recursive: true }));

it('manifests has the kinds of a file beside those of the catalogue', async () => {
  const { code, stdout } = await gpugate(['manifests', '--no-ca', '--templates', kinds]);
  expect(code).toBe(0);
  const configurations = parseAllDocuments(stdout).map((document) => document.toJS());
  for (const { webhooks } of configurations) {
    const [{ rules }] = webhooks.filter(({ name }: { name: string }) => name.startsWith('templates.'));
    expect(rules).toContainEqual({
      apiGroups: ['example.com'],
      apiVersions: ['*'],
      operations: ['CREATE', 'UPDATE'],
      resources: ['runs'],
      scope: 'Namespaced',
    });
    expect(rules.flatMap(({ resources }: { resources: string[] }) => resources)).toContain('rayclusters');
  }
});

it('serve judges the kinds of a file', async () => {
  const served = await serve(['--templates', kinds]);
  const { review, close } = client(served.port, served.ca);
  try {
    const container = { name: 'c', image: 'x', resources: { limits: { 'nvidia.com/gpu': 0.5 } } };
    const object = {
      metadata: { name: 'r' },
      spec: { workers: [{}, { template: { spec: { containers: [container] } } }] },
    };
    const request = {
      uid: 'u',
      kind: { group: 'example.com', version: 'v7', kind: 'Run' },
      operation: 'CREATE',
      namespace: 'team-a',
      object,
    };
    const { text } = await review('/validate', { apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview', request });
    const [warning] = JSON.parse(text).response.warnings;
    expect(warning).toMatch(
      /^GPU002 spec\.workers\[1\]\.template\.spec\.containers\[0\] "c": nvidia\.com\/gpu is 0\.5;/,
    );
  } finally {
    close();
    await served.remove();
  }
});

it.each(['serve', 'manifests'])('%s ends with the place of a mistake', async (verb) => {
  const { code, stdout, stderr } = await gpugate([verb, '--cert-dir', join(dir, 'certs'), '--templates', wrong]);
  expect(code).toBe(3);
  expect(stdout).not.toContain('listening');
  expect(stderr).toContain(`${wrong}:4: [0].paths[0] is "/spec/template", which is no path`);
});
