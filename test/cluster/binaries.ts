import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type GoTools, goTools, type Log, missing, versionIn } from './go-tools.ts';

/** Paths of the five programs a control plane needs. */
export interface Binaries {
  readonly etcd: string;
  readonly kubeApiserver: string;
  readonly kubeControllerManager: string;
  readonly kubeScheduler: string;
  readonly kubectl: string;
}

const NAMES = ['etcd', 'kube-apiserver', 'kube-controller-manager', 'kube-scheduler', 'kubectl'] as const;

/** The Go module of each minor release that can be run: the newest, and the oldest that is tested. */
const MODULES: Readonly<Record<string, string>> = { '1.37': 'controlplane', '1.34': 'controlplane-1.34' };
const NEWEST = '1.37';

/** The minor release of Kubernetes that `GPUGATE_KUBERNETES` asks for. */
function kubernetesMinor(): string {
  const asked = process.env.GPUGATE_KUBERNETES || NEWEST;
  if (Object.hasOwn(MODULES, asked)) return asked;
  throw new Error(`GPUGATE_KUBERNETES=${asked}: there are ${Object.keys(MODULES).join(' and ')}`);
}

/**
 * The real programs of a control plane: those in the folder `KUBEBUILDER_ASSETS`, else built once from a Go module in
 * `test/e2e` and kept in the user's cache. Throws an Error that says what is missing.
 */
export async function binaries(log: Log): Promise<Binaries> {
  const assets = process.env.KUBEBUILDER_ASSETS;
  if (assets) return fromAssets(assets);
  const minor = kubernetesMinor();
  const cache = MODULES[minor] ?? '';
  const module = fileURLToPath(new URL(`../e2e/${cache}/`, import.meta.url));
  return paths(await goTools({ ...controlPlane, what: `etcd and Kubernetes ${minor}`, module, cache }, log));
}

function fromAssets(folder: string): Binaries {
  const absent = missing(folder, NAMES);
  if (absent.length === 0) return paths(folder);
  throw new Error(
    `KUBEBUILDER_ASSETS=${folder} lacks ${absent.join(', ')}: add them (setup-envtest brings only etcd, kube-apiserver and kubectl), or unset it to build all from source`,
  );
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

const controlPlane: Omit<GoTools, 'module' | 'cache' | 'what'> = {
  names: NAMES,
  // Go names a tool after the last element of its package: go.etcd.io/etcd/server/v3 comes out as `server`.
  renamed: { server: 'etcd' },
  takes: "about ten minutes on two cores the first time, less than one when Go's build cache is warm",
  // Kubernetes' own build stamps these (hack/lib/version.sh); without them the server says v0.0.0-master, and kubectl warns of skew.
  stamps: (goMod) => {
    const version = versionIn(goMod, 'k8s.io/kubernetes');
    const [major, minor] = version.slice(1).split('.');
    return [
      `k8s.io/component-base/version.gitVersion=${version}`,
      `k8s.io/component-base/version.gitMajor=${major}`,
      `k8s.io/component-base/version.gitMinor=${minor}`,
      `k8s.io/client-go/pkg/version.gitVersion=${version}`,
    ];
  },
  otherwise: `set KUBEBUILDER_ASSETS to a folder with ${NAMES.join(', ')}`,
};
