import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import type { Report } from '../../src/report/result.ts';
import { freePorts } from '../cluster/ports.ts';
import { gpugate } from './gpugate.ts';

const ROOT = new URL('../../', import.meta.url).pathname;
const POD = `apiVersion: v1
kind: Pod
metadata: { name: nb }
spec: { containers: [{ name: c, image: x, resources: { limits: { nvidia.com/gpu: 0.5 } } }] }
`;

let dir: string;
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'gpugate-review-cluster-'));
  await writeFile(join(dir, 'pod.yaml'), POD);
});
afterAll(() => rm(dir, { recursive: true, force: true }));

/** Runs `use` with a kubeconfig whose second context leads to a server; the first one leads nowhere. */
async function withServer<T>(answer: RequestListener, use: (kubeconfig: string) => Promise<T>): Promise<T> {
  const server: Server = createServer(answer);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const [nobody] = await freePorts(1);
  const config = {
    clusters: [
      { name: 'gone', cluster: { server: `http://127.0.0.1:${nobody}`, 'insecure-skip-tls-verify': true } },
      { name: 'here', cluster: { server: `http://127.0.0.1:${port}`, 'insecure-skip-tls-verify': true } },
    ],
    users: [{ name: 'u', user: {} }],
    contexts: ['gone', 'here'].map((name) => ({
      name,
      context: { cluster: name, user: 'u', namespace: 'team-notebooks' },
    })),
    'current-context': 'gone',
  };
  const kubeconfig = join(dir, `kubeconfig-${port}`);
  await writeFile(kubeconfig, JSON.stringify(config));
  try {
    return await use(kubeconfig);
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

const read = async (file: string) => readFile(join(ROOT, file), 'utf8');

it('--cluster takes policies, namespaces and nodes of the context, page by page, and asks for nothing else', async () => {
  const objects: Readonly<Record<string, readonly unknown[]>> = {
    '/api/v1/namespaces': parseAllDocuments(await read('deploy/demo/namespaces.yaml')).map((document) =>
      document.toJS(),
    ),
    '/api/v1/nodes': parse(await read('deploy/demo/nodes.yaml')).items,
    '/apis/gpugate.dev/v1alpha1/gpupolicies': [parse(await read('deploy/policies/notebooks.yaml'))],
    '/api/v1/resourcequotas': [],
    '/api/v1/limitranges': [],
  };
  const asked = new Set<string>();
  const answer: RequestListener = (request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '', 'http://api');
    asked.add(`${request.method} ${pathname}`);
    const items = objects[pathname];
    const start = Number(searchParams.get('continue') ?? 0);
    const end = start + 2;
    const next = items && end < items.length ? { continue: String(end) } : {};
    // Nothing is said of classes: some may not be read, others are not there.
    response.writeHead(items ? 200 : pathname.includes('deviceclasses') ? 404 : 403, {
      'content-type': 'application/json',
    });
    response.end(JSON.stringify({ metadata: { resourceVersion: '1', ...next }, items: items?.slice(start, end) }));
  };
  const ended = await withServer(answer, (kubeconfig) => reviewOn(kubeconfig, '-o', 'json'));
  expect(ended).toMatchObject({ code: 1, stderr: '' });
  const [object] = (JSON.parse(ended.stdout) as Report).objects;
  expect(object).toMatchObject({ policy: 'notebooks', outcome: 'denied' });
  expect(object?.findings[0]?.fix).toBe('Ask for 1: here one unit is a quarter of a GPU.');
  expect([...asked].filter((request) => !request.startsWith('GET '))).toEqual([]);
});

it('a cluster that does not answer in time ends it with 124', async () => {
  const { code, stdout, stderr } = await withServer(
    () => {},
    (kubeconfig) => reviewOn(kubeconfig, '--request-timeout', '1s'),
  );
  expect({ code, stdout }).toEqual({ code: 124, stdout: '' });
  expect(stderr).toMatch(/^gpugate: the cluster: /);
});

it('a cluster that is not there ends it with 4', async () => {
  const { code, stderr } = await withServer(
    () => {},
    (kubeconfig) => gpugate(['review', join(dir, 'pod.yaml'), '--cluster', '--kubeconfig', kubeconfig]),
  );
  expect(code, stderr).toBe(4);
  expect(stderr).toMatch(/^gpugate: the cluster: .*ECONNREFUSED/);
});

it('a namespace that the cluster does not have is told as such', async () => {
  const answer: RequestListener = (_, response) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ metadata: { resourceVersion: '1' }, items: [] }));
  };
  const { stdout } = await withServer(answer, (kubeconfig) => reviewOn(kubeconfig, '-n', 'team-a'));
  expect(stdout).toContain(
    'notice the cluster has no namespace team-a, so only arithmetic is judged in it; give its manifest (--namespaces, or among the others), or --namespace-label\n',
  );
});

it.each([
  ['--context', 'here'],
  ['--kubeconfig', 'config'],
])('%s without --cluster asks no cluster, and is wrong use', async (...flag) => {
  const { code, stderr } = await gpugate(['review', join(dir, 'pod.yaml'), ...flag]);
  expect({ code, stderr }).toEqual({
    code: 2,
    stderr: `gpugate: ${flag[0]} stands without --cluster, so no cluster would be asked; add --cluster\n`,
  });
});

/** Reviews the pod by what the cluster of the context `here` has. */
function reviewOn(kubeconfig: string, ...flags: readonly string[]) {
  return gpugate([
    'review',
    join(dir, 'pod.yaml'),
    '--cluster',
    '--kubeconfig',
    kubeconfig,
    '--context',
    'here',
    ...flags,
  ]);
}
