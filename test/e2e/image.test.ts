import { execFileSync, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import about from '../../package.json' with { type: 'json' };
import { kubeconfigFor } from '../cluster/kubeconfig.ts';
import { buildImage, type Image } from './image/build.ts';
import { type RunningImage, type RunOptions, runImage } from './image/run.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const REVISION = execFileSync('git', ['rev-parse', 'HEAD'], { cwd: ROOT, encoding: 'utf8' }).trim();

let scratch: string;
let image: Image;
beforeAll(() => {
  scratch = mkdtempSync(join(tmpdir(), 'gpugate-image-'));
  const checkout = join(scratch, 'checkout');
  mkdirSync(checkout);
  // What is committed, and nothing that only lies about here.
  execFileSync('sh', ['-c', 'git archive HEAD | tar -x -C "$1"', 'sh', checkout], { cwd: ROOT });
  image = buildImage(checkout, scratch, { REVISION });
});
afterAll(() => rmSync(scratch, { recursive: true, force: true }));

const filesOf = (root: string) =>
  readdirSync(root, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));

async function run(options: RunOptions, of: Image = image) {
  const child = runImage(of, options);
  const ended = new Promise((resolve) => child.on('close', resolve));
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)]);
  return { code: await ended, stdout, stderr };
}

describe('the image', () => {
  it('has two stages over the slim form of a long-term Node, the one that runs the tests', () => {
    expect(image.stages).toBe(2);
    const [, major = '0'] = /^node:(\d+)-slim$/.exec(image.base) ?? [];
    // Even lines become long-term ones (nodejs/Release).
    expect(Number(major) % 2).toBe(0);
    expect(process.versions.node.split('.')[0]).toBe(major);
  });

  it('is labelled as the Open Containers ask', () => {
    expect(image.labels).toEqual({
      'org.opencontainers.image.title': about.name,
      'org.opencontainers.image.description': about.description,
      'org.opencontainers.image.licenses': about.license,
      'org.opencontainers.image.version': about.version,
      'org.opencontainers.image.revision': REVISION,
    });
  });

  it('names its user by number, so that the kubelet can tell that it is not root', () => {
    expect(image.user).toMatch(/^[1-9]\d*:[1-9]\d*$/);
  });

  it('holds the bundle, licences and policies, and is small', () => {
    const files = filesOf(join(image.root, 'gpugate')).map((file) => file.slice(image.root.length));
    const expected = /^\/gpugate\/(LICENSE|licences\.txt|package\.json|[\w.-]+\.js|policies\/[\w-]+\.yaml)$/;
    expect(files.filter((file) => !expected.test(file))).toEqual([]);
    expect(files).toEqual(expect.arrayContaining(['/gpugate/gpugate.js', '/gpugate/LICENSE', '/gpugate/licences.txt']));
    const bytes = filesOf(join(image.root, 'gpugate')).reduce((sum, file) => sum + statSync(file).size, 0);
    console.log(`${(bytes / 2 ** 20).toFixed(1)} MiB over ${image.base}`);
    expect(bytes).toBeLessThan(8 * 2 ** 20);
  });

  it('runs as a user that is not root, without a shell, on a root that nobody can write to', async () => {
    expect(await run({ args: ['version'] })).toMatchObject({ code: 0, stdout: expect.stringContaining(about.version) });
    const { stdout, stderr } = await run({ args: ['rules', 'explain', 'GPU002'] });
    expect(stderr).toBe('');
    expect(stdout).toBe(readFileSync(join(scratch, 'checkout/docs/rules/GPU002.md'), 'utf8'));
    const probe = `
      const { readdirSync, writeFileSync } = require('node:fs');
      const why = (path) => { try { writeFileSync(path, ''); return 'written'; } catch ({ code }) { return code; } };
      console.log(JSON.stringify({ uid: process.getuid(), gid: process.getgid(), write: ['/x', '/gpugate/x'].map(why), root: readdirSync('/').sort() }));`;
    const probed = await run({ args: [] }, { ...image, entrypoint: ['node', '-e', probe] });
    const told = JSON.parse(probed.stdout);
    expect(told).toMatchObject({ uid: 65532, gid: 65532, write: ['EROFS', 'EROFS'] });
    expect(told.root).toEqual(expect.arrayContaining(['gpugate', 'usr']));
    expect(told.root).not.toContain('bin');
  });

  it('serves with what is mounted at /certs, and ends well on SIGTERM', async () => {
    const child = runImage(image, {
      env: { GPUGATE_PORT: '0', GPUGATE_METRICS_PORT: '0', GPUGATE_SHUTDOWN_DELAY: '0s' },
      volumes: ['/certs'],
    });
    const ended = new Promise((resolve) => child.on('close', resolve));
    const { metricsPort } = await listening(child);
    const ready = await fetch(`http://127.0.0.1:${metricsPort}/readyz`);
    expect({ status: ready.status, text: await ready.text() }).toMatchObject({ status: 200 });
    process.kill(firstIn(child), 'SIGTERM');
    expect(await ended).toBe(0);
  });
});

// The kernel lets no signal reach the first process of a pid namespace that it has no handler for.
describe('as the first process of a container, waiting for an API server that never answers', () => {
  it.each([
    [
      'serve',
      ['--port', '0', '--metrics-port', '0', '--cert-secret', 'gpugate/certs', '--service', 'gpugate/gpugate'],
      0,
    ],
    ['install-crd', [], 143],
    ['doctor', [], 143],
  ])('%s ends on SIGTERM', async (verb, flags, code) => {
    const asked = Promise.withResolvers<void>();
    const api = createServer(() => asked.resolve()); // takes the connection, and says nothing
    await new Promise<void>((resolve) => api.listen(0, '127.0.0.1', resolve));
    const kubeconfig = join(scratch, `kubeconfig-${verb}`);
    writeFileSync(kubeconfig, kubeconfigFor(`https://127.0.0.1:${(api.address() as AddressInfo).port}`));
    const main = join(ROOT, 'src/main.ts');
    const args = [
      '--pid',
      '--fork',
      '--kill-child',
      process.execPath,
      main,
      verb,
      '--kubeconfig',
      kubeconfig,
      ...flags,
    ];
    const child = spawn('unshare', args, { stdio: ['ignore', 'pipe', 'pipe'] });
    const ended = new Promise((resolve) => child.on('close', resolve));
    const printed = Promise.all([text(child.stdout), text(child.stderr)]);
    try {
      await Promise.race([asked.promise, printed.then(([, error]) => expect.unreachable(error))]);
      process.kill(firstIn(child), 'SIGTERM');
      expect(await ended, (await printed).join('\n')).toBe(code);
    } finally {
      child.kill('SIGKILL');
      api.close();
    }
  });
});

/** What the log says once both ports are open. */
async function listening(child: RunningImage): Promise<{ readonly metricsPort: number }> {
  const stderr = text(child.stderr);
  for await (const line of createInterface({ input: child.stdout })) {
    const entry = JSON.parse(line);
    if (entry.msg === 'listening') {
      child.stdout.resume();
      return entry;
    }
  }
  throw new Error(`ended before it listened: ${await stderr}`);
}

/** The first process of the container, as its parent's namespace numbers it. */
function firstIn({ pid }: { readonly pid?: number | undefined }): number {
  return Number(readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ')[0]);
}
