import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { guardedPathPattern, opensGpus } from './host-paths.ts';

describe('a hostPath opens GPUs', () => {
  it.each([
    ...['/', '//', '/.', '/dev', '/dev/', '//dev', '/./dev', '/dev/.', 'dev', './dev', '/dev/nvidia0', '/dev/dri'],
    ...['/dev/nvidia-caps', '/dev/char/195:0', '/dev//nvidiactl', '/dev/block', '/run', '/var', '/var/run', '/var/lib'],
    ...['/var/lib/kubelet', '/var/lib/kubelet/device-plugins', '/var/lib/kubelet/device-plugins/nvidia-gpu.sock'],
    ...['/run/containerd', '/var/run/containerd/containerd.sock', '/var//run/./containerd', '/var/run/docker.sock'],
    ...[
      '/run/k3s/containerd/containerd.sock',
      '/var/run/nri/nri.sock',
      '/etc/cdi',
      '/var/run/cdi',
      '/etc',
      '/run/nvidia',
    ],
    ...['/opt/k8s/containerd.sock', '/var/lib/k0s/kubelet/device-plugins', '/run/nvidia/driver/dev'],
    ...['/proc/1/root', '/proc/1/root/dev', '/proc/self/cwd', '/proc/1/task/1/root/dev', '/proc//1/./fd/3'],
  ])('%s', (path) => {
    expect(opensGpus(path)).toBeDefined();
    expect(path).toMatch(new RegExp(guardedPathPattern()));
  });
});

describe('a hostPath opens none', () => {
  it.each([
    ...['/dev/null', '/dev/shm', '/dev/fuse', '/dev/net/tun', '/dev/infiniband/uverbs0', '/dev//hugepages'],
    ...['/var/log', '/var/log/containers', '/var/lib/docker/containers', '/var/lib/kubelet/pods', '/proc', '/sys'],
    ...['/var/lib/kubelet/pod-resources', '/data', '/data/dev', '/home/nri/x', '/devices', '/developer', '/etc/ssl'],
    ...['/run/udev', '/mnt/nvidia', '/proc/sys/net', '/etc/machine-id', '/run/containerd-logs', '/varx/run'],
  ])('%s', (path) => expect(opensGpus(path)).toBeUndefined());
});

describe('the pattern for the API server', () => {
  it.each(['/var/log', '/proc', '/sys', '/data/henri', '/var/lib/kubelet/pods', '/etc/ssl', '/var/log/containerd'])(
    'does not send %s',
    (path) => expect(path).not.toMatch(new RegExp(guardedPathPattern())),
  );

  it('sends every path that opens GPUs', () => {
    const part = fc.constantFrom(
      ...[
        '',
        '.',
        'dev',
        'nvidia0',
        'null',
        'run',
        'var',
        'lib',
        'kubelet',
        'device-plugins',
        'containerd',
        'etc',
        'cdi',
      ],
      ...['nri', 'nri.sock', 'docker.sock', 'crio', 'proc', '1', 'root', 'fd', 'snap', 'microk8s', 'common', 'x'],
    );
    const path = fc
      .tuple(fc.constantFrom('', '/'), fc.array(part, { maxLength: 6 }))
      .map(([root, parts]) => root + parts.join('/'));
    const pattern = new RegExp(guardedPathPattern());
    fc.assert(
      fc.property(path, (text) => text === '' || opensGpus(text) === undefined || pattern.test(text)),
      { numRuns: 20_000 },
    );
  });
});
