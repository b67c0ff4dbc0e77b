import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { V1Container } from '@kubernetes/client-node';
import type { Image } from './image.ts';

/** A command line that starts a program in a root of its own. */
export interface Command {
  readonly command: string;
  readonly args: readonly string[];
}

export interface RootOptions {
  readonly container: V1Container;
  readonly user: number;
  readonly image: Image;
  /** The root is made in here. */
  readonly dir: string;
  /** Folder with the pod's volumes by name. */
  readonly volumes: string;
  /** The program with its arguments. */
  readonly run: readonly string[];
}

const NODE = process.execPath;

/**
 * A root folder for one container: the image's files, this machine's libraries and Node, and the container's volumes at their
 * real paths, all in a mount namespace of its own and read-only where the container says so. The program runs as the
 * given user, without capabilities. What a container engine does beyond that (cgroups, namespaces of processes and
 * network, seccomp) is left out. Needs root and Linux.
 */
export async function rootFor({ container, user, image, dir, volumes, run }: RootOptions): Promise<Command> {
  const root = join(dir, 'root');
  for (const folder of ['usr', 'proc', 'dev', 'tmp', 'gpugate']) await mkdir(join(root, folder), { recursive: true });
  for (const name of ['bin', 'lib', 'lib64']) await symlink(join('usr', name), join(root, name)).catch(() => {});
  await writeFile(join(root, 'node'), '');
  const mounts: Mount[] = [
    { from: '/usr', to: '/usr', readOnly: true },
    { from: '/dev', to: '/dev', readOnly: false },
    { from: NODE, to: '/node', readOnly: true },
    { from: join(image.files, 'gpugate'), to: '/gpugate', readOnly: true },
  ];
  for (const { name, mountPath, subPath = '', readOnly = false } of container.volumeMounts ?? []) {
    await mkdir(join(root, mountPath), { recursive: true });
    mounts.push({ from: join(volumes, name, subPath), to: mountPath, readOnly });
  }
  const script = [
    'set -e',
    `mount --bind ${quoted(root)} ${quoted(root)}`,
    ...mounts.map((mount) => bind(root, mount)),
    `mount -t proc proc ${quoted(`${root}/proc`)}`,
    ...(container.securityContext?.readOnlyRootFilesystem ? [`mount -o remount,bind,ro ${quoted(root)}`] : []),
    `exec chroot ${quoted(root)} /usr/bin/setpriv --reuid=${user} --regid=${user} --clear-groups --no-new-privs --inh-caps=-all --bounding-set=-all "$@"`,
  ].join('\n');
  // The image names its Node as it likes.
  const [program = '', ...rest] = run;
  const words = [program.split('/').at(-1) === 'node' ? '/node' : program, ...rest];
  return { command: 'unshare', args: ['--mount', 'sh', '-c', script, 'sh', ...words] };
}

interface Mount {
  readonly from: string;
  readonly to: string;
  readonly readOnly: boolean;
}

function bind(root: string, { from, to, readOnly }: Mount): string {
  const target = quoted(root + to);
  const mount = `mount --rbind ${quoted(from)} ${target}`;
  return readOnly ? `${mount}\nmount -o remount,bind,ro ${target}` : mount;
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
