import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Command } from 'commander';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Read, readConfiguration } from '../../src/commands/configuration.ts';
import { addFlags, FLAGS } from '../../src/commands/flags.ts';
import { gpugate, serve } from './gpugate.ts';

let dir: string;
let file: string;
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'gpugate-'));
  file = join(dir, 'namespaces.yaml');
  await writeFile(file, 'apiVersion: v1\nkind: Namespace\nmetadata: {name: team-a}\n');
});
afterAll(() => rm(dir, { recursive: true }));

/** Reads a command line and variables as `serve` does. */
function read(args: readonly string[], variables: NodeJS.ProcessEnv = {}): Read {
  const before = { ...process.env };
  Object.assign(process.env, variables);
  try {
    const command = addFlags(new Command()).option('--welcome').exitOverride();
    command.parse(args, { from: 'user' });
    return readConfiguration(command.opts(), (flag) => command.getOptionValueSource(flag));
  } finally {
    process.env = before;
  }
}

const configuration = (args: readonly string[], variables?: NodeJS.ProcessEnv) => {
  const found = read(args, variables);
  if (!found.ok) throw new Error(found.mistakes.join('\n'));
  return found.configuration;
};

describe('the configuration', () => {
  it('has defaults for this machine', () => {
    expect(configuration([])).toEqual({
      host: '127.0.0.1',
      port: 8443,
      metricsPort: 9090,
      certDir: 'certs',
      webhookConfigurations: 'gpugate',
      certLifetime: 90 * 24 * 3600 * 1000,
      logLevel: 'info',
      clientNames: ['kube-apiserver'],
      shutdownDelay: 10_000,
    });
  });

  it('takes every setting from a variable', () => {
    const variables = {
      GPUGATE_HOST: '::',
      GPUGATE_PORT: '0',
      GPUGATE_METRICS_PORT: '0',
      GPUGATE_CERT_DIR: dir,
      GPUGATE_POLICIES: dir,
      GPUGATE_NAMESPACES: file,
      GPUGATE_NODES: file,
      GPUGATE_GPU_RESOURCES: 'example.com/npu',
      GPUGATE_TEMPLATES: file,
      GPUGATE_LOG_LEVEL: 'debug',
      GPUGATE_LOG_LEVEL_FILE: '/nowhere/yet',
      GPUGATE_CLIENT_CA: file,
      GPUGATE_CLIENT_NAMES: 'kube-apiserver, front-proxy-client',
      GPUGATE_SHUTDOWN_DELAY: '500ms',
    };
    expect(configuration([], variables)).toEqual({
      host: '::',
      port: 0,
      metricsPort: 0,
      certDir: dir,
      webhookConfigurations: 'gpugate',
      certLifetime: 90 * 24 * 3600 * 1000,
      policies: dir,
      namespaces: file,
      nodes: file,
      gpuResources: ['example.com/npu'],
      templates: file,
      logLevel: 'debug',
      logLevelFile: '/nowhere/yet',
      clientCa: file,
      clientNames: ['kube-apiserver', 'front-proxy-client'],
      shutdownDelay: 500,
    });
    const certificates = {
      GPUGATE_KUBECONFIG: file,
      GPUGATE_CERT_DIR: '/certs',
      GPUGATE_CERT_SECRET: 'gpu-system/certificates.v1',
      GPUGATE_SERVICE: 'gpu-system/gate',
      GPUGATE_WEBHOOK_CONFIGURATIONS: 'gpu-system.gate',
      GPUGATE_CERT_LIFETIME: '12h',
    };
    expect(configuration([], certificates)).toMatchObject({
      kubeconfig: file,
      certSecret: { namespace: 'gpu-system', name: 'certificates.v1' },
      service: { namespace: 'gpu-system', name: 'gate' },
      webhookConfigurations: 'gpu-system.gate',
      certLifetime: 12 * 3600 * 1000,
    });
    const tried = [...new Set([...Object.keys(variables), ...Object.keys(certificates)])].sort();
    expect(tried).toEqual(
      Object.values(FLAGS)
        .map(({ variable }) => variable)
        .sort(),
    );
  });

  it('prefers a flag to its variable', () => {
    expect(configuration(['--port', '1'], { GPUGATE_PORT: '2' }).port).toBe(1);
  });

  it('passes over empty variables and those that Kubernetes sets for a Service called gpugate', () => {
    const set = {
      GPUGATE_PORT: 'tcp://10.96.0.1:443',
      GPUGATE_METRICS_PORT: 'tcp://10.96.0.2:9090',
      GPUGATE_POLICIES: '',
    };
    expect(configuration([], set)).toEqual(configuration([]));
  });

  it.each([
    ['10', 10_000],
    ['1.5s', 1500],
    ['0', 0],
    ['300s', 300_000],
  ])('reads a delay of %s', (text, shutdownDelay) => {
    expect(configuration(['--shutdown-delay', text])).toMatchObject({ shutdownDelay });
  });

  const PORT = 'is not a port; give a whole number from 1 to 65535, or 0 for any free one';
  it.each<[string[], NodeJS.ProcessEnv, string]>([
    [['--port', '65536'], {}, `--port (GPUGATE_PORT): "65536" ${PORT}`],
    [['--port', '-1'], {}, `--port (GPUGATE_PORT): "-1" ${PORT}`],
    [['--port', '1e3'], {}, `--port (GPUGATE_PORT): "1e3" ${PORT}`],
    [[], { GPUGATE_METRICS_PORT: 'http' }, `GPUGATE_METRICS_PORT (--metrics-port): "http" ${PORT}`],
    [
      ['--port', '9090'],
      {},
      '--metrics-port (GPUGATE_METRICS_PORT): "9090" is the port of the webhook too; give another one',
    ],
    [
      ['--host', 'http://x'],
      {},
      '--host (GPUGATE_HOST): "http://x" is not an address; give one of this machine, such as 127.0.0.1, or 0.0.0.0 for all',
    ],
    [
      ['--host', '10.0.0'],
      {},
      '--host (GPUGATE_HOST): "10.0.0" is not an address; give one of this machine, such as 127.0.0.1, or 0.0.0.0 for all',
    ],
    [
      ['--policies', '/nowhere'],
      {},
      '--policies (GPUGATE_POLICIES): "/nowhere" is not a directory; give one that exists',
    ],
    [[], { GPUGATE_NODES: '/nowhere' }, 'GPUGATE_NODES (--nodes): "/nowhere" is not a file; give one that exists'],
    [
      ['--log-level', 'loud'],
      {},
      '--log-level (GPUGATE_LOG_LEVEL): "loud" is not a level; give one of trace, debug, info, warn, error, fatal, silent',
    ],
    [
      ['--shutdown-delay', '1h'],
      {},
      '--shutdown-delay (GPUGATE_SHUTDOWN_DELAY): "1h" is not a time up to 300 s; give one such as 10s, 500ms or 0',
    ],
    [
      ['--shutdown-delay', '301'],
      {},
      '--shutdown-delay (GPUGATE_SHUTDOWN_DELAY): "301" is not a time up to 300 s; give one such as 10s, 500ms or 0',
    ],
  ])('refuses %j %j with one line', (args, variables, line) => {
    expect(read(args, variables)).toEqual({ ok: false, mistakes: [line] });
  });

  const SECRET = ['--cert-secret', 'gpugate/certificates'];
  const NAMED = '--cert-secret (GPUGATE_CERT_SECRET): "gpugate/certificates"';
  const SERVICE = ['--service', 'gpugate/gpugate'];
  it.each<[string, string[], NodeJS.ProcessEnv, string]>([
    [
      'without a cluster',
      [...SECRET, ...SERVICE],
      { KUBERNETES_SERVICE_HOST: undefined },
      `${NAMED} needs a cluster; give --kubeconfig`,
    ],
    [
      'without a Service',
      SECRET,
      { KUBERNETES_SERVICE_HOST: '10.0.0.1' },
      `${NAMED} stands without --service; give the Service that the API server calls`,
    ],
    [
      'beside a directory of certificates',
      [...SECRET, ...SERVICE, '--cert-dir', 'certs'],
      { KUBERNETES_SERVICE_HOST: '10.0.0.1' },
      '--cert-dir (GPUGATE_CERT_DIR): "certs" stands beside --cert-secret; leave out one of the two',
    ],
    [
      'of no namespace',
      ['--cert-secret', 'certificates', ...SERVICE],
      { KUBERNETES_SERVICE_HOST: '10.0.0.1' },
      '--cert-secret (GPUGATE_CERT_SECRET): "certificates" is not a name in a namespace; give namespace/name',
    ],
    [
      'that live too short',
      [...SECRET, ...SERVICE, '--cert-lifetime', '9s'],
      { KUBERNETES_SERVICE_HOST: '10.0.0.1' },
      '--cert-lifetime (GPUGATE_CERT_LIFETIME): "9s" is not a life from 10s to 365d; give one such as 90d, 12h, 30m or 60s',
    ],
    [
      'whose Service is given alone',
      SERVICE,
      {},
      '--service (GPUGATE_SERVICE): "gpugate/gpugate" is only for --cert-secret; give that too, or leave this out',
    ],
  ])('refuses own certificates %s', (_, args, variables, line) => {
    expect(read(args, variables)).toEqual({ ok: false, mistakes: [line] });
  });

  it('refuses files beside a cluster', () => {
    expect(read(['--kubeconfig', file, '--namespaces', file])).toEqual({
      ok: false,
      mistakes: [
        `--namespaces (GPUGATE_NAMESPACES): ${JSON.stringify(file)} stands beside --kubeconfig; leave out one of the two`,
      ],
    });
  });
});

describe('gpugate', () => {
  it('tells all mistakes at once on stderr and exits 2', async () => {
    const { code, stdout, stderr } = await gpugate(['serve', '--port', 'x', '--log-level', 'loud'], {
      GPUGATE_NODES: '/nowhere',
    });
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr.split('\n')).toEqual([
      `gpugate: --port (GPUGATE_PORT): "x" is not a port; give a whole number from 1 to 65535, or 0 for any free one`,
      'gpugate: GPUGATE_NODES (--nodes): "/nowhere" is not a file; give one that exists',
      'gpugate: --log-level (GPUGATE_LOG_LEVEL): "loud" is not a level; give one of trace, debug, info, warn, error, fatal, silent',
      '',
    ]);
  });

  it.each([
    [['serve', '--prot', '1'], /Did you mean --port/],
    [['sevre'], /Did you mean serve/],
  ])('%j exits 2', async (args, text) => {
    const { code, stderr } = await gpugate(args);
    expect(code).toBe(2);
    expect(stderr).toMatch(text);
  });

  it('exits 3 with the line of a manifest that is wrong', async () => {
    const wrong = join(dir, 'wrong.yaml');
    await writeFile(wrong, 'kind: Namespace\nmetadata:\n  labels: {}\n');
    const { code, stderr } = await gpugate(['serve', '--cert-dir', join(dir, 'certs'), '--namespaces', wrong]);
    expect(code).toBe(3);
    expect(stderr).toMatch(/^gpugate: .*wrong\.yaml:\d+: metadata\.name is missing\b.*\n$/);
  });

  it('exits 3 in a pod without a certificate, rather than make one that nobody trusts', async () => {
    const empty = join(dir, 'empty');
    const { code, stderr } = await gpugate(['serve', '--cert-dir', empty], { KUBERNETES_SERVICE_HOST: '10.96.0.1' });
    expect({ code, stderr }).toEqual({
      code: 3,
      stderr: `gpugate: ${empty}: no certificate; mount a Secret with tls.crt and tls.key there\n`,
    });
  });

  it('exits 4 with one line when a port is taken', async () => {
    const taken = createServer().listen(0, '127.0.0.1');
    await new Promise((resolve) => taken.on('listening', resolve));
    const { port } = taken.address() as AddressInfo;
    const { code, stderr } = await gpugate([
      'serve',
      '--cert-dir',
      join(dir, 'certs'),
      '--port',
      String(port),
      '--metrics-port',
      '0',
    ]);
    taken.close();
    expect({ code, stderr }).toEqual({
      code: 4,
      stderr: `gpugate: --port (GPUGATE_PORT): port ${port} of 127.0.0.1 is taken; end what listens there, or give another port\n`,
    });
  });

  it('says how to try it when namespaces come from a file', async () => {
    const served = await serve(['--namespaces', file, '--shutdown-delay', '0']);
    served.signal('SIGTERM');
    const { stderr } = await served.ended;
    expect(stderr).toContain(`https://127.0.0.1:${served.port}/mutate`);
    expect(stderr).toContain(`--cacert ${join(served.dir, 'ca.crt')}`);
    await served.remove();
  });

  it('prints its version', async () => {
    expect(await gpugate(['version'])).toEqual({
      code: 0,
      stdout: expect.stringMatching(/^gpugate \d+\.\d+\.\d+ /),
      stderr: '',
    });
  });
});
