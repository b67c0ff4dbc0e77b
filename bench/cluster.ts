import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** The namespace of the recorded review, and the policy that its label names. */
const GOVERNED = { name: 'team-inference', policy: 'latency-inference' };
const VERSION = '1000';
const POLICIES = ['batch-inference', 'latency-inference', 'multi-tenant', 'notebooks', 'training'];

/** What gpugate watches: an API server with `count` namespaces, each with a policy, and no node, where nothing happens. */
export async function startCluster(count: number): Promise<{ readonly kubeconfig: string; close(): void }> {
  const namespaces = [namespace(GOVERNED.name, GOVERNED.policy)];
  while (namespaces.length < count) {
    const at = namespaces.length;
    namespaces.push(namespace(`team-${at}`, POLICIES[at % POLICIES.length] ?? ''));
  }
  const server = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '', 'http://cluster');
    response.writeHead(200, { 'content-type': 'application/json' });
    if (searchParams.has('watch')) return watch(response);
    const items = pathname === '/api/v1/namespaces' ? namespaces : [];
    response.end(JSON.stringify({ metadata: { resourceVersion: VERSION }, items }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    kubeconfig: kubeconfigOf(`http://127.0.0.1:${port}`),
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

/** A watch that is quiet but for the bookmarks of a real API server, since gpugate takes silence for a dead connection. */
function watch(response: ServerResponse): void {
  response.flushHeaders();
  const bookmark = `${JSON.stringify({ type: 'BOOKMARK', object: { metadata: { resourceVersion: VERSION } } })}\n`;
  const timer = setInterval(() => response.write(bookmark), 30_000);
  response.on('close', () => clearInterval(timer));
}

function namespace(name: string, policy: string) {
  return {
    metadata: {
      name,
      uid: crypto.randomUUID(),
      resourceVersion: '100',
      labels: { 'kubernetes.io/metadata.name': name, 'gpugate.dev/policy': policy },
    },
    spec: { finalizers: ['kubernetes'] },
    status: { phase: 'Active' },
  };
}

function kubeconfigOf(server: string): string {
  return JSON.stringify({
    clusters: [{ name: 'bench', cluster: { server, 'insecure-skip-tls-verify': true } }],
    users: [{ name: 'bench', user: { token: 'bench' } }],
    contexts: [{ name: 'bench', context: { cluster: 'bench', user: 'bench' } }],
    'current-context': 'bench',
  });
}
