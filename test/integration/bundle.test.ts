import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { bundle } from '../../scripts/bundle.ts';
import { issue } from '../../src/certificates/issue.ts';
import { wholeProgram } from '../../src/program.ts';
import { kubeconfigFor } from '../cluster/kubeconfig.ts';
import { client } from './client.ts';
import { type Ended, gpugate, node, serve } from './gpugate.ts';

const MANIFESTS = 'test/review/manifests';
const VERBS = (await wholeProgram()).commands.map((command) => command.name());

let dir: string;
let main: string;
let api: Awaited<ReturnType<typeof emptyCluster>>;

// Outside the repository, where no node_modules is found on the way up.
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'gpugate-bundle-'));
  await bundle({ dir: join(dir, 'dist') });
  main = join(dir, 'dist/gpugate.js');
  api = await emptyCluster();
}, 60_000);
afterAll(async () => {
  api.close();
  await rm(dir, { recursive: true, force: true });
});

describe('the bundle', () => {
  it('prints its version', async () => {
    const { version } = JSON.parse(await readFile(new URL('../../package.json', import.meta.url), 'utf8'));
    expect(await node([main, 'version'])).toMatchObject({ code: 0, stdout: expect.stringContaining(version) });
  });

  it('explains a rule without the pages beside it', async () => {
    const page = await readFile(new URL('../../docs/rules/GPU002.md', import.meta.url), 'utf8');
    expect(await node([main, 'rules', 'explain', 'GPU002'])).toEqual({ code: 0, stdout: page, stderr: '' });
  });

  it('says plainly that Node is too old', async () => {
    const { engines } = JSON.parse(await readFile(new URL('../../package.json', import.meta.url), 'utf8'));
    const older = "data:text/javascript,Object.defineProperty(process.versions,'node',{value:'20.20.2'})";
    expect(await node(['--import', older, main, 'rules'])).toEqual({
      code: 4,
      stdout: '',
      stderr: `gpugate: this is Node 20.20.2; gpugate needs Node ${engines.node.replace('>=', '')} or later\n`,
    });
  });

  it('makes certificates, becomes ready and answers a review', async () => {
    const served = await serve([], {}, main);
    const requests = client(served.port, served.ca);
    try {
      const ready = await requests.send({ method: 'GET', path: '/readyz' });
      expect(ready).toMatchObject({ status: 200, text: expect.stringContaining('\nready\n') });
      const review = await readFile(new URL('../reviews/pod-create-fraction.json', import.meta.url), 'utf8');
      const { text } = await requests.send({ headers: { 'content-type': 'application/json' }, body: review });
      expect(JSON.parse(text).response).toMatchObject({ allowed: false, status: { code: 403 } });
    } finally {
      requests.close();
      await served.remove();
    }
  });

  it('watches a cluster over TLS', async () => {
    const served = await serve(['--kubeconfig', api.kubeconfig], {}, main);
    try {
      const ready = () => fetch(`http://127.0.0.1:${served.metricsPort}/readyz`);
      await expect.poll(async () => (await ready()).text(), { timeout: 10_000 }).toContain('[+] cluster\n');
    } finally {
      await served.remove();
    }
  });

  // A verb loads the file of it, and for what it is asked to do further ones: each of those is asked for here.
  it.each(
    [
      ...VERBS.map((verb) => [verb, '--help']),
      ...['text', 'json', 'yaml', 'sarif', 'junit', 'github', 'patch'].map((to) => ['review', MANIFESTS, '-o', to]),
      ['review', MANIFESTS, '--mutated'],
      ['test', 'test/scenarios', '--run', 'fraction', '-o', 'junit'],
      ...['text', 'json', 'yaml', 'sarif', 'html', 'policyreport'].map((to) => ['audit', '-o', to]),
      ['explain', 'train-0', '-n', 'team-a'],
      ['explain', 'namespace', 'team-a'],
      ['doctor', '--request-timeout', '20s'],
      ['review', MANIFESTS, '--cluster'],
      ['manifests'],
      ['install-crd'],
      ['unregister'],
      ['rules'],
      ['boards', '1g.10gb'],
      ['completion', 'bash'],
    ].map((asked) => [asked.join(' '), asked] as const),
  )('does what the sources do: %s', async (_, asked) => {
    const env = { KUBECONFIG: api.kubeconfig };
    const [sources, bundled] = [await gpugate(asked, env), await node([main, ...asked], env)];
    expect(told(bundled)).toEqual(told(sources));
    expect(bundled.code).not.toBe(2);
    expect(bundled.stderr).not.toMatch(/^ +at /m);
  });

  it('names the licence of every package in it', async () => {
    const text = await readFile(join(dir, 'dist/licences.txt'), 'utf8');
    for (const name of ['fastify', '@kubernetes/client-node', 'zod'])
      expect(text).toMatch(new RegExp(`^${name} \\d`, 'm'));
    expect(text).not.toContain('licence not named');
  });

  it('is text that V8 keeps in one byte a character', async () => {
    for (const file of (await readdir(join(dir, 'dist'))).filter((name) => name.endsWith('.js'))) {
      expect(/^[\0-\x7f]*$/.test(await readFile(join(dir, 'dist', file), 'utf8')), file).toBe(true);
    }
  });
});

/** What it printed, without the times in it. */
function told({ code, stdout, stderr }: Ended) {
  const timeless = (text: string) =>
    text.replaceAll(/\d{4}-\d\d-\d\d[T ][\d:.]+(Z| UTC)|\btime="[\d.]+"|\b[\d.]+ ?m?s\b/g, '(time)');
  return { code, stdout: timeless(stdout), stderr: timeless(stderr) };
}

/** An API server in which nothing lives, over TLS, and a kubeconfig for it. */
async function emptyCluster() {
  const { ca, certificate, key } = await issue(new Date());
  const server = createServer({ cert: certificate, key }, (request, response) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    if (request.url?.includes('watch')) response.flushHeaders();
    else response.end(JSON.stringify({ metadata: { resourceVersion: '1' }, items: [] }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const kubeconfig = join(dir, 'kubeconfig');
  const { port } = server.address() as AddressInfo;
  await writeFile(kubeconfig, kubeconfigFor(`https://127.0.0.1:${port}`, { ca, token: 'a-token' }));
  const close = () => {
    server.closeAllConnections();
    server.close();
  };
  return { kubeconfig, close };
}
