import { type ChildProcessByStdio, execFileSync, spawn } from 'node:child_process';
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Readable } from 'node:stream';
import type { Image } from './build.ts';

export type RunningImage = ChildProcessByStdio<null, Readable, Readable>;

/** What a container gets beside its image. */
export interface RunOptions {
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** Folders that its user may write to, such as /certs. */
  readonly volumes?: readonly string[];
}

/**
 * Starts an image as a container engine would: its user, its environment and no other, and a read-only root that holds node, the
 * libraries it is linked with, and the files of the image. There is no shell in it, nor any other program.
 * Needs Linux and root, for mount namespaces.
 */
export function runImage(image: Image, { args, env = {}, volumes = [] }: RunOptions = {}): RunningImage {
  const { root } = image;
  chmodSync(root, 0o755);
  const node = '/usr/local/bin/node';
  const mounts = [
    ...[process.execPath, ...librariesOf(process.execPath)].map((file, index) => ({
      from: file,
      to: index === 0 ? node : file,
    })),
    { from: '/dev/null', to: '/dev/null' },
    { from: '/dev/urandom', to: '/dev/urandom' },
  ];
  for (const { to } of mounts) {
    mkdirSync(join(root, dirname(to)), { recursive: true });
    writeFileSync(join(root, to), '');
  }
  for (const folder of [...volumes, '/proc']) mkdirSync(join(root, folder), { recursive: true });
  const [uid, gid] = image.user.split(':');
  const script = [
    'set -e',
    `mount --bind ${root} ${root}`,
    ...mounts.map(({ from, to }) => `mount --bind ${from} ${root}${to}`),
    `mount -t proc proc ${root}/proc`,
    ...volumes.map((folder) => `mount -t tmpfs -o uid=${uid},gid=${gid},mode=0700 volume ${root}${folder}`),
    `mount -o remount,bind,ro ${root}`,
    `exec chroot --userspec=${image.user} ${root} "$@"`,
  ].join('\n');
  const variables = Object.entries({
    PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
    ...image.env,
    ...env,
  });
  const command = [...image.entrypoint, ...(args ?? image.command)];
  const unshare = ['--mount', '--pid', '--fork', '--kill-child', 'sh', '-c', script, 'sh', ...command];
  return spawn('unshare', unshare, { env: Object.fromEntries(variables), stdio: ['ignore', 'pipe', 'pipe'] });
}

/** The files that the loader takes in with a program, itself among them. */
function librariesOf(program: string): readonly string[] {
  const listed = execFileSync('ldd', [program], { encoding: 'utf8' });
  return listed.split('\n').flatMap((line) => /(?:=> )?(\/\S+) \(0x/.exec(line)?.[1] ?? []);
}
