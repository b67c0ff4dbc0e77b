import { execFileSync } from 'node:child_process';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bundle } from '../scripts/bundle.ts';
import { issue } from '../src/certificates/issue.ts';
import { freePorts } from '../test/cluster/ports.ts';
import { readArguments } from './arguments.ts';
import { startCluster } from './cluster.ts';
import { openConnection } from './connection.ts';
import { measure } from './measure.ts';
import { type Round, summarize, table } from './report.ts';
import { mustDoTheSame } from './same.ts';
import { startServer } from './server.ts';

// `npm run bench`: what gpugate costs beside a bare Fastify server that makes the same patch for the same review.

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const NAMESPACES = 500;
const CONNECTIONS = 25;
// V8 has compiled the last of a verdict's functions after some 20,000 reviews.
const WARM_UP_SECONDS = 10;
// As in the image.
const NODE_FLAGS = ['--max-semi-space-size=8'];
const [SERVER_CORE, GENERATOR_CORE] = ['0', '1'];

const { rounds, seconds, json } = readArguments(process.argv.slice(2));
const say = json ? () => {} : console.log;
const review = JSON.parse(readFileSync(new URL('review.json', import.meta.url), 'utf8'));
const body = Buffer.from(JSON.stringify(review));

const dir = await mkdtemp(join(tmpdir(), 'gpugate-bench-'));
const ends: (() => unknown)[] = [() => rm(dir, { recursive: true })];
try {
  const measured = await run();
  if (json) console.log(JSON.stringify({ summary: summarize(measured), rounds: measured }, null, 2));
  else console.log(`\n${table(measured)}`);
} finally {
  for (const end of ends.reverse()) await end();
}

async function run(): Promise<Round[]> {
  await bundle({ dir: join(dir, 'dist'), input: { gpugate: 'src/main.ts', bare: 'bench/bare.ts' } });
  const { ca, certificate, key } = await issue(new Date());
  await Promise.all([
    writeFile(join(dir, 'ca.crt'), ca),
    writeFile(join(dir, 'tls.crt'), certificate),
    writeFile(join(dir, 'tls.key'), key),
  ]);
  const cluster = await startCluster(NAMESPACES);
  ends.push(cluster.close);
  await writeFile(join(dir, 'kubeconfig'), cluster.kubeconfig);

  const pinned = pin();
  const [port = 0, metricsPort = 0, barePort = 0] = await freePorts(3);
  // A file, for what a pipe's reader would take of a core. Every review leaves its line there.
  const log = openSync(join(dir, 'gpugate.log'), 'w');
  ends.push(() => closeSync(log));
  const serve = [
    ['serve', '--port', `${port}`, '--metrics-port', `${metricsPort}`, '--cert-dir', dir, '--shutdown-delay', '0'],
    ['--kubeconfig', join(dir, 'kubeconfig'), '--policies', join(ROOT, 'deploy/policies')],
  ].flat();
  const start = async (name: string, at: number, args: readonly string[]) => {
    const server = await startServer({
      name,
      port: at,
      args: [...NODE_FLAGS, join(dir, 'dist', name), ...args],
      output: log,
      pinned,
    });
    ends.push(server.stop);
    const open = () => openConnection(at, ca, '/mutate', body);
    const connections = await Promise.all(Array.from({ length: CONNECTIONS }, open));
    ends.push(() => connections.forEach((connection) => void connection.close()));
    // Both close a connection that asks nothing for too long at its start.
    const [first] = await Promise.all(connections.map((connection) => connection.send()));
    return { server, connections, first };
  };
  const gpugate = await start('gpugate.js', port, serve);
  const bare = await start('bare.js', barePort, [`${barePort}`, dir]);
  mustDoTheSame(review, gpugate.first ?? Buffer.alloc(0), bare.first ?? Buffer.alloc(0));

  say(
    `${rounds} rounds of ${seconds} s each, ${CONNECTIONS} connections, a review of ${body.length} bytes, ${NAMESPACES} namespaces, node ${process.version}, ${
      pinned.length > 0 ? 'server and generator on a core each' : 'not pinned to cores'
    }; log to a file`,
  );
  const take = ({ server, connections }: typeof bare, time = seconds) => measure(server, connections, time);
  await take(gpugate, WARM_UP_SECONDS);
  await take(bare, WARM_UP_SECONDS);
  const measured: Round[] = [];
  for (let round = 0; round < rounds; round++) {
    // Who goes first changes, so that a machine which gets faster or slower favours neither.
    const first = await take(round % 2 === 0 ? gpugate : bare);
    const second = await take(round % 2 === 0 ? bare : gpugate);
    measured.push(round % 2 === 0 ? { gpugate: first, bare: second } : { gpugate: second, bare: first });
  }
  return measured;
}

/** Moves this process, which is the generator, to its core, and returns what starts another one on the server's. */
function pin(): readonly string[] {
  if (availableParallelism() < 2) return [];
  try {
    execFileSync('taskset', ['-a', '-p', '-c', GENERATOR_CORE, `${process.pid}`], { stdio: 'ignore' });
  } catch {
    return [];
  }
  return ['taskset', '-c', SERVER_CORE];
}
