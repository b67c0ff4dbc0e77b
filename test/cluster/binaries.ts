import { execFile, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rename, rm } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

/** Paths of the five programs a control plane needs. */
export interface Binaries {
  readonly etcd: string;
  readonly kubeApiserver: string;
  readonly kubeControllerManager: string;
  readonly kubeScheduler: string;
  readonly kubectl: string;
}

/** Takes one line of progress, without a line end. */
export type Log = (line: string) => void;

const NAMES = ['etcd', 'kube-apiserver', 'kube-controller-manager', 'kube-scheduler', 'kubectl'] as const;
const MODULE = fileURLToPath(new URL('../e2e/controlplane/', import.meta.url));

/**
 * The real programs of a control plane: those in the folder `KUBEBUILDER_ASSETS`, else built once from the Go module in
 * `test/e2e/controlplane` and kept in the user's cache. Throws an Error that says what is missing.
 */
export async function binaries(log: Log): Promise<Binaries> {
  const assets = process.env.KUBEBUILDER_ASSETS;
  if (assets) return fromAssets(assets);
  const module = await readFile(join(MODULE, 'go.mod'), 'utf8');
  const goVersion = await installedGo(/^go (\S+)$/m.exec(module)?.[1] ?? 'of go.mod');
  const kubernetes = /^\s*k8s\.io\/kubernetes (v\S+)/m.exec(module)?.[1] ?? 'v0.0.0';
  const sums = await readFile(join(MODULE, 'go.sum'), 'utf8');
  const hash = createHash('sha256').update([module, sums, goVersion].join('\0')).digest('hex').slice(0, 16);
  const folder = join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'gpugate', 'controlplane', hash);
  if (missing(folder).length > 0) await build(folder, kubernetes, goVersion, log);
  return paths(folder);
}

function fromAssets(folder: string): Binaries {
  const absent = missing(folder);
  if (absent.length === 0) return paths(folder);
  throw new Error(
    `KUBEBUILDER_ASSETS=${folder} lacks ${absent.join(', ')}: add them (setup-envtest brings only etcd, kube-apiserver and kubectl), or unset it to build all from source`,
  );
}

function missing(folder: string): string[] {
  return NAMES.filter((name) => !existsSync(join(folder, name)));
}

function paths(folder: string): Binaries {
  return {
    etcd: join(folder, 'etcd'),
    kubeApiserver: join(folder, 'kube-apiserver'),
    kubeControllerManager: join(folder, 'kube-controller-manager'),
    kubeScheduler: join(folder, 'kube-scheduler'),
    kubectl: join(folder, 'kubectl'),
  };
}

/** Version and platform of the Go toolchain the module would be built with, e.g. `go1.26.8 linux amd64`. */
async function installedGo(needed: string): Promise<string> {
  try {
    const { stdout } = await promisify(execFile)('go', ['env', 'GOVERSION', 'GOOS', 'GOARCH'], { cwd: MODULE });
    return stdout.trim().split('\n').join(' ');
  } catch (error) {
    const { code, stderr } = error as NodeJS.ErrnoException & { stderr?: string };
    const why = code === 'ENOENT' ? 'there is no `go` on PATH' : `\`go env\` failed: ${stderr?.trim() || code}`;
    throw new Error(
      `cannot build the control plane: ${why}. Install Go ${needed} or later, or set KUBEBUILDER_ASSETS to a folder with ${NAMES.join(', ')}`,
    );
  }
}

async function build(folder: string, kubernetes: string, goVersion: string, log: Log): Promise<void> {
  log(
    `building etcd and Kubernetes ${kubernetes} with ${goVersion} into ${folder}: about ten minutes on two cores the first time, less than one when Go's build cache is warm`,
  );
  await mkdir(join(folder, '..'), { recursive: true });
  const work = await mkdtemp(`${folder}.`);
  const started = Date.now();
  const minutes = setInterval(() => log(`still building, ${Math.round((Date.now() - started) / 60_000)} min`), 60_000);
  try {
    await goBuild(work, kubernetes);
    // Go names a tool after the last element of its package: go.etcd.io/etcd/server/v3 comes out as `server`.
    await rename(join(work, 'server'), join(work, 'etcd'));
    await rename(work, folder).catch((error: NodeJS.ErrnoException) => {
      // Another process finished the same build first.
      if (missing(folder).length > 0) throw new Error(`${folder} is incomplete, delete it: ${error.message}`);
    });
    log(`built in ${Math.round((Date.now() - started) / 1000)} s`);
  } finally {
    clearInterval(minutes);
    await rm(work, { recursive: true, force: true });
  }
}

async function goBuild(into: string, kubernetes: string): Promise<void> {
  const [major, minor] = kubernetes.slice(1).split('.');
  // Kubernetes' own build stamps these (hack/lib/version.sh); without them the server says v0.0.0-master, and kubectl warns of skew.
  const stamps = [
    `-X k8s.io/component-base/version.gitVersion=${kubernetes}`,
    `-X k8s.io/component-base/version.gitMajor=${major}`,
    `-X k8s.io/component-base/version.gitMinor=${minor}`,
    `-X k8s.io/client-go/pkg/version.gitVersion=${kubernetes}`,
  ];
  const args = [
    'build',
    '-trimpath',
    '-buildvcs=false',
    '-ldflags',
    ['-s -w', ...stamps].join(' '),
    '-o',
    into,
    'tool',
  ];
  const child = spawn('go', args, { cwd: MODULE, stdio: ['ignore', 'ignore', 'pipe'] });
  let stderr = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr = (stderr + text).slice(-4000);
  });
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', resolve);
  });
  if (code !== 0)
    throw new Error(`\`go build tool\` in test/e2e/controlplane failed (exit ${code}):\n${stderr.trim()}`);
}
