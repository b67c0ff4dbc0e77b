import { closeSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { Agent, request } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { bundle } from '../scripts/bundle.ts';
import { issue } from '../src/certificates/issue.ts';
import { freePorts } from '../test/cluster/ports.ts';
import { type MemoryApi, startApi } from './memory-api.ts';
import { largeCluster, namespaceName } from './memory-objects.ts';
import { startServer } from './server.ts';

// `npm run bench:memory`: what the bundled server keeps of a large cluster, and whether changes make it grow.

// As in the image, and as the chart sets it from its default memory limit: 60 % of 384 MiB.
const NODE_FLAGS = ['--max-semi-space-size=8', '--max-old-space-size=230'];
const CONNECTIONS = 8;
/** Collecting garbage is V8's own choice: a round may end just before it. */
const TOLERANCE = 1.15;

const { values } = parseArgs({
  options: {
    namespaces: { type: 'string', default: '10000' },
    nodes: { type: 'string', default: '5000' },
    rounds: { type: 'string', default: '6' },
    reviews: { type: 'string', default: '20000' },
  },
});
const size = { namespaces: Number(values.namespaces), nodes: Number(values.nodes) };
const rounds = Number(values.rounds);

const dir = await mkdtemp(join(tmpdir(), 'gpugate-memory-'));
const ends: (() => unknown)[] = [() => rm(dir, { recursive: true })];
try {
  process.exitCode = (await run()) ? 0 : 1;
} finally {
  for (const end of ends.reverse()) await end();
}

async function run(): Promise<boolean> {
  await bundle({ dir: join(dir, 'dist') });
  const { ca, certificate, key } = await issue(new Date());
  await Promise.all([
    writeFile(join(dir, 'ca.crt'), ca),
    writeFile(join(dir, 'tls.crt'), certificate),
    writeFile(join(dir, 'tls.key'), key),
  ]);
  const cluster = largeCluster(size);
  const api = await startApi(cluster, { cert: certificate, key });
  ends.push(api.stop);
  await writeFile(join(dir, 'kubeconfig'), kubeconfig(api, ca));

  const [port = 0, metricsPort = 0] = await freePorts(2);
  const log = openSync(join(dir, 'gpugate.log'), 'w');
  ends.push(() => closeSync(log));
  const args = [
    ...[...NODE_FLAGS, join(dir, 'dist/gpugate.js'), 'serve', '--no-welcome', '--shutdown-delay', '0'],
    ...['--port', String(port), '--metrics-port', String(metricsPort)],
    ...['--cert-dir', dir, '--kubeconfig', join(dir, 'kubeconfig')],
  ];
  const server = await startServer({ name: 'gpugate', port, args, output: log, pinned: [] });
  ends.push(server.stop);

  const metrics = async () => (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text();
  const resident: number[] = [];
  const show = async (what: string) => {
    // Let it write its log and collect its garbage.
    await sleep(2000);
    const text = await metrics();
    const heap = sample(text, 'gpugate_nodejs_heap_size_used_bytes') / 2 ** 20;
    resident.push(server.rss());
    console.log(row(what, server.rss(), peakOf(server.pid), heap));
  };
  /** Waits until every collection that is watched holds what was sent. */
  const inStep = async (added: number) => {
    const wanted = new Map([...cluster].map(([path, { length }]) => [path.split('/').at(-1), length]));
    for (;;) {
      const held = [...(await metrics()).matchAll(/^gpugate_watch_objects\{resource="(\w+)"\} (\d+)$/gm)];
      const late = held.filter(([, resource, count]) => {
        const length = wanted.get(resource) ?? 0;
        return Number(count) < (length === 0 ? 0 : length + added);
      });
      if (held.length > 0 && late.length === 0) return;
      await sleep(100);
    }
  };

  console.log(`${size.namespaces} namespaces with a quota each, ${size.nodes} nodes; MiB\n`);
  console.log(row('after', 'resident', 'its peak', 'heap in use'));
  await inStep(0);
  await show('the first lists');
  await review(port, ca);
  await inStep(0);
  await show(`${values.reviews} reviews`);
  for (let round = 1; round <= rounds; round += 1) {
    await api.change(round);
    await inStep(round);
    await review(port, ca);
    await show(`change ${round} of every object, and as many reviews`);
  }
  const [, , first = 0] = resident;
  const last = resident.at(-1) ?? 0;
  const lists = async () => [...(await metrics()).matchAll(/^gpugate_watch_lists_total\S+ (\d+)$/gm)].map(([, n]) => n);
  api.forget();
  while ((await lists()).some((count) => Number(count) < 2)) await sleep(100);
  await show('all lists again, as when the API server restarts');
  const grew = last > first * TOLERANCE;
  console.log(
    `\nfrom change 1 to change ${rounds}: ${Math.round((last / first - 1) * 100)} %${grew ? ', which is growth' : ''}`,
  );
  return !grew;
}

/** Reviews of a pod with a GPU, in every namespace in turn. */
async function review(port: number, ca: string): Promise<void> {
  const { request: recorded, ...envelope } = JSON.parse(readFileSync(new URL('review.json', import.meta.url), 'utf8'));
  const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS, ca });
  let sent = 0;
  const worker = async () => {
    while (sent < Number(values.reviews)) {
      const namespace = namespaceName(sent % size.namespaces);
      sent += 1;
      const object = { ...recorded.object, metadata: { ...recorded.object.metadata, namespace } };
      await post(agent, port, JSON.stringify({ ...envelope, request: { ...recorded, namespace, object } }));
    }
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, worker));
  agent.destroy();
}

function post(agent: Agent, port: number, body: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const headers = { 'content-type': 'application/json' };
    const sent = request({ host: '127.0.0.1', port, path: '/mutate', method: 'POST', agent, headers }, (answer) => {
      answer.resume().on('error', reject);
      answer.on('end', () =>
        answer.statusCode === 200 ? resolve() : reject(new Error(`answered ${answer.statusCode}`)),
      );
    });
    sent.on('error', reject).end(body);
  });
}

/** The most that was resident since the last time it was asked (proc_pid_clear_refs(5): 5 sets it back). */
function peakOf(pid: number): number {
  const peak = Number(/^VmHWM:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024;
  writeFileSync(`/proc/${pid}/clear_refs`, '5');
  return peak;
}

function sample(exposition: string, name: string): number {
  return Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(exposition)?.[1]);
}

function row(what: string, ...cells: readonly (string | number)[]): string {
  const texts = cells.map((cell) => (typeof cell === 'number' ? cell.toFixed(0) : cell).padStart(12));
  return what.padEnd(50) + texts.join('');
}

function kubeconfig({ url }: MemoryApi, ca: string): string {
  const cluster = { server: url, 'certificate-authority-data': Buffer.from(ca).toString('base64') };
  return JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'memory', cluster }],
    users: [{ name: 'memory', user: { token: 'any' } }],
    contexts: [{ name: 'memory', context: { cluster: 'memory', user: 'memory' } }],
    'current-context': 'memory',
  });
}
