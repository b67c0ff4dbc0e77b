/** Places of a node from which a container gets at GPUs past the device plugin, and what is there. */
const GUARDED: Readonly<Record<string, string>> = {
  '/dev': 'where the devices of the node are',
  '/run/nvidia': 'where the driver keeps devices of its own',
  '/var/lib/kubelet/device-plugins': 'where the sockets of the device plugins are',
  '/run/containerd': 'where the socket of the container runtime is',
  '/run/crio': 'where the socket of the container runtime is',
  '/run/docker.sock': 'where the socket of the container runtime is',
  '/run/cri-dockerd.sock': 'where the socket of the container runtime is',
  '/run/k3s': 'where the socket of the container runtime is',
  '/run/k0s': 'where the socket of the container runtime is',
  '/var/snap/microk8s/common/run': 'where the socket of the container runtime is',
  '/run/nri': 'where the socket of NRI plugins is',
  '/etc/nri': 'where NRI plugins are set up',
  '/opt/nri': 'where NRI plugins are',
  '/run/cdi': 'where CDI devices are described',
  '/etc/cdi': 'where CDI devices are described',
};

/** Below /dev, what opens no GPU and is mounted for other reasons. Anything else there counts as a device. */
const HARMLESS_DEVICES: ReadonlySet<string> = new Set(
  'null zero full random urandom tty ptmx pts shm mqueue hugepages log fuse net infiniband kvm'.split(' '),
);

/** Sockets and folders that open the same, wherever a distribution keeps them. */
const TELLING_NAME = /^((containerd|docker|crio|cri-dockerd|nri)\.sock|device-plugins)$/;

/** Links of /proc that lead to other files of the host: `/proc/1/root/dev` is `/dev`. */
const PROC_LINKS = ['root', 'cwd', 'fd', 'map_files'];

const roots = Object.entries(GUARDED).map(([path, why]) => ({ parts: partsOf(path), why }));

/**
 * Why a hostPath opens GPUs, as `where the devices of the node are`; undefined for one that does not. A folder around a
 * guarded place opens it too. Links that someone made on the node can't be seen.
 */
export function opensGpus(path: string): string | undefined {
  const parts = partsOf(path);
  if (parts[0] === 'dev' && HARMLESS_DEVICES.has(parts[1] ?? '')) return undefined;
  if (parts[0] === 'proc' && parts.slice(2).some((part) => PROC_LINKS.includes(part))) {
    return 'which leads to the files of a process of the node';
  }
  const around = roots.find((root) => root.parts.every((part, depth) => (parts[depth] ?? part) === part));
  if (around) return around.why;
  return parts.some((part) => TELLING_NAME.test(part)) ? 'which is a socket of the node' : undefined;
}

/**
 * The names on the way to a path, as the node reads them: `//dev/.` is `/dev`, a relative path starts at `/` (the runtime's
 * own folder), and `/var/run` is `/run`. The API server refuses `..` (validatePathNoBacksteps).
 */
function partsOf(path: string): readonly string[] {
  const parts = path.split('/').filter((part) => part !== '' && part !== '.');
  return parts[0] === 'var' && parts[1] === 'run' ? parts.slice(1) : parts;
}

/** RE2 for every path that `opensGpus` speaks of, and a few more. */
export function guardedPathPattern(): string {
  const places = Object.keys(GUARDED)
    .flatMap((path) => (path.startsWith('/run/') ? [path, `/var${path}`] : [path]))
    .map((path) => path.slice(1).split('/'));
  const links = `proc/.*/(${PROC_LINKS.join('|')})(/|$)`;
  return `^[/.]*($|${anyOf(places)}|${links})|(^|/)(containerd|docker|crio|cri-dockerd|nri)[.]sock|device-plugins`;
}

/** `var((/[/.]*)?$|/[/.]*(lib(/|$)))` for /var/lib: a folder on the way, the place itself, and what is below it. */
function anyOf(places: readonly (readonly string[])[]): string {
  const names = [...new Set(places.map(([name = '']) => name))];
  const choices = names.map((name) => {
    const below = places.filter((parts) => parts[0] === name).map((parts) => parts.slice(1));
    const here = name.replaceAll('.', '[.]');
    return below.some((parts) => parts.length === 0) ? `${here}(/|$)` : `${here}((/[/.]*)?$|/[/.]*${anyOf(below)})`;
  });
  return `(${choices.join('|')})`;
}
