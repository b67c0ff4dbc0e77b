import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Command } from 'commander';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { bundle } from '../../scripts/bundle.ts';
import { wholeProgram } from '../../src/program.ts';
import { kubeconfigFor } from '../cluster/kubeconfig.ts';
import { gpugate, node } from './gpugate.ts';

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));
const commands = commandsOf(await wholeProgram());

interface Told {
  readonly words: readonly string[];
  readonly command: Command;
}

function commandsOf(command: Command, words: readonly string[] = []): readonly Told[] {
  const children = command
    .createHelp()
    .visibleCommands(command)
    .filter((child) => child.name() !== 'help');
  return [{ words, command }, ...children.flatMap((child) => commandsOf(child, [...words, child.name()]))];
}

function helpOf(command: Command): string {
  let text = '';
  const writeOut = (part: string) => {
    text += part;
  };
  command.configureOutput({ writeOut });
  command.outputHelp();
  return text;
}

/** A way to call each verb that needs no cluster, and what it ends with. `serve` listens and the others ask a cluster. */
const OFFLINE: Readonly<Record<string, { readonly args: readonly string[]; readonly code: number }>> = {
  manifests: { args: ['--no-ca'], code: 0 },
  review: { args: [here('../scenarios/whole-gpu-becomes-a-slice/input.yaml')], code: 0 },
  test: { args: [here('../scenarios/whole-gpu-becomes-a-slice')], code: 0 },
  rules: { args: ['explain', 'GPU002'], code: 0 },
  boards: { args: ['1g.10gb'], code: 0 },
  completion: { args: ['bash'], code: 0 },
  version: { args: [], code: 0 },
};
const NETWORK = ['serve', 'explain', 'audit', 'doctor', 'install-crd', 'unregister'];
const verbs = commands.filter(({ words }) => words.length === 1).map(({ words: [verb = ''] }) => verb);
const offline = verbs.filter((verb) => !NETWORK.includes(verb));

describe('the help of', () => {
  it.each(commands.map(({ words, command }) => [['gpugate', ...words].join(' '), command] as const))(
    '%s says what it does, and shows examples whose verbs and flags are there',
    (name, command) => {
      const help = helpOf(command);
      expect(command.description()).toMatch(/^[A-Z].*\.$/s);
      const [, block = ''] = /\nExamples:\n([\s\S]*?)(?:\n\n|\s*$)/.exec(help) ?? [];
      const examples = [...block.matchAll(/\bgpugate( [^|<>\n]*)/g)].map(
        ([, args = '']) =>
          args
            .trim()
            .split(/ {2,}|\) /)[0]
            ?.split(' ') ?? [],
      );
      expect(examples.length).toBeGreaterThan(0);
      for (const words of examples) {
        const { flags, rest } = flagsAt(words);
        for (const flag of rest.filter((word) => /^--?[a-z]/i.test(word))) {
          expect(flags, `${name}: ${words.join(' ')}`).toContain(flag.split('=')[0]);
        }
      }
    },
  );

  /** The flags that are known where these words lead, and the words after. */
  function flagsAt(words: readonly string[]) {
    const [at] = commands
      .filter((told) => told.words.every((word, index) => words[index] === word))
      .sort((a, b) => b.words.length - a.words.length);
    expect(words.length === 0 || at?.words.length !== 0 || words[0]?.startsWith('-'), words.join(' ')).toBe(true);
    const options = at?.command.options ?? [];
    return {
      flags: [...options.flatMap(({ long, short }) => [long, short]), '-h', '--help'],
      rest: words.slice(at?.words.length),
    };
  }
});

it.each(commands.map(({ words }) => [words] as const))('gpugate %s: an unknown flag is wrong use', async (words) => {
  expect(await gpugate([...words, '--no-such-flag'])).toMatchObject({ code: 2, stdout: '' });
});

it('an unknown verb is wrong use, and the nearest one is named', async () => {
  const { code, stderr } = await gpugate(['rulse']);
  expect(code).toBe(2);
  expect(stderr).toContain('(Did you mean rules?)');
});

/** Ways to call a verb with a file that can't be read, and every verb that asks a cluster. */
const UNREADABLE = [
  ['review', '/no/such'],
  ['review', here('../scenarios'), '--policies', '/no/such'],
  ['test', '/no/such'],
  ['test', 'init', '/no/such'],
  ['manifests', '--cert-dir', '/no/such'],
  ['manifests', '--no-ca', '--templates', '/no/such'],
  ['doctor', '--kubeconfig', '/no/such'],
];
const ASKING = [
  ['review', here('../scenarios/whole-gpu-becomes-a-slice/input.yaml'), '--cluster'],
  ['audit'],
  ['explain', 'train'],
  ['doctor'],
  ['install-crd'],
  ['unregister'],
];

it.each(['', '..', 'gpugate?dryRun=All', '../../../../api/v1/namespaces/prod'])(
  'unregister takes %j for no name, since its path would be that of something else',
  async (name) => {
    const { code, stderr } = await gpugate(['unregister', '--webhook-configurations', name]);
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining('Write the name of an object') });
  },
);

describe('exit codes are the same for every verb', () => {
  it.each(UNREADABLE.map((args) => [args.join(' '), args] as const))('3: %s', async (_name, args) => {
    expect(await gpugate(args)).toMatchObject({ code: 3, stderr: expect.stringMatching(/^gpugate: .*\/no\/such/) });
  });

  it.each(ASKING.map((args) => [args[0], args] as const))(
    '4: %s of a cluster that is not there',
    async (_name, args) => {
      const server = createServer();
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
      const { port } = server.address() as AddressInfo;
      await new Promise((resolve) => server.close(resolve));
      const file = join(await mkdtemp(join(tmpdir(), 'gpugate-nowhere-')), 'kubeconfig');
      await writeFile(file, kubeconfigFor(`https://127.0.0.1:${port}`));
      const { code, stderr } = await gpugate([...args, '--kubeconfig', file]);
      await rm(dirname(file), { recursive: true });
      expect({ code, stderr }).toEqual({ code: 4, stderr: expect.stringMatching(/^gpugate: .*cluster.*ECONNREFUSED/) });
    },
  );

  it.each(ASKING.map((args) => [args[0], args] as const))(
    '124: %s of a cluster that does not answer, as its help says',
    async (verb, args) => {
      const sockets: Socket[] = [];
      const server = createServer((socket) => sockets.push(socket));
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
      const { port } = server.address() as AddressInfo;
      const file = join(await mkdtemp(join(tmpdir(), 'gpugate-silent-')), 'kubeconfig');
      await writeFile(file, kubeconfigFor(`https://127.0.0.1:${port}`));
      const { code, stderr } = await gpugate([...args, '--kubeconfig', file, '--request-timeout', '100ms']);
      for (const socket of sockets) socket.destroy();
      server.close();
      await rm(dirname(file), { recursive: true });
      expect({ code, stderr }).toEqual({ code: 124, stderr: expect.stringMatching(/^gpugate: .*cluster/) });
      const { command } = commands.find(({ words }) => words.join(' ') === verb) ?? {};
      const [codes] = /Exit codes.*/.exec(command ? helpOf(command).replace(/\s+/g, ' ') : '') ?? [];
      // `install-crd` and `unregister` name no exit code at all.
      if (codes) expect(codes).toMatch(/\b124 [^;]*--request-timeout/);
    },
  );
});

it('the output that nobody reads any more ends it without a word', async () => {
  const { code, stderr } = await node(['-e', pipedIntoNothing]);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
});
const pipedIntoNothing = `
  const child = require('node:child_process').spawn(process.execPath, [${JSON.stringify(here('../../src/main.ts'))}, 'rules', 'explain', ...Array(40).fill('GPU002')]);
  child.stdout.once('readable', () => child.stdout.destroy());
  child.stderr.pipe(process.stderr);
  child.on('close', (code) => { process.exitCode = code ?? 1; });
`;

describe('without the network', () => {
  const preload = ['--import', here('no-network.mjs'), here('../../src/main.ts')];

  it.each(offline)('%s runs as it does with it', async (verb) => {
    const given = OFFLINE[verb];
    if (!given) throw new Error(`say in OFFLINE how ${verb} is called, or in NETWORK that it needs a cluster`);
    const { code, stderr } = await node([...preload, verb, ...given.args]);
    expect({ code, stderr }).toEqual({ code: given.code, stderr: '' });
  });

  it('a verb that does use it is stopped by the same means', async () => {
    const { code, stderr } = await node([...preload, 'serve', '--port', '0', '--cert-dir', here('../../certs')]);
    expect({ code, stderr }).toEqual({ code: 99, stderr: 'network: listen\n' });
  });
});

describe('only what a verb needs is loaded', () => {
  const HEAVY = ['fastify', '@kubernetes/client-node', 'pino', 'prom-client', '@peculiar/x509'];
  let dir: string;
  /** Packages of each file of the bundle. */
  let packages: ReadonlyMap<string, readonly string[]>;
  beforeAll(async () => {
    dir = await mkdtemp(join(tmpdir(), 'gpugate-verbs-'));
    const chunks = await bundle({ dir: join(dir, 'dist') });
    packages = new Map(chunks.map(({ fileName, moduleIds }) => [fileName, moduleIds.flatMap(packageOf)]));
  }, 60_000);
  afterAll(() => rm(dir, { recursive: true }));

  const packageOf = (id: string) => /.*node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(id)?.[1] ?? [];

  async function loaded(main: string, args: readonly string[]): Promise<readonly string[]> {
    const file = join(dir, 'loaded');
    await rm(file, { force: true });
    await node(['--import', here('loaded.mjs'), main, ...args], { LOADED_MODULES: file });
    return (await readFile(file, 'utf8'))
      .trimEnd()
      .split('\n')
      .map((url) => fileURLToPath(url));
  }

  it.each(offline.filter((verb) => verb !== 'completion'))('%s: no server and no client of a cluster', async (verb) => {
    const args = [verb, ...(OFFLINE[verb]?.args ?? [])];
    const fromSource = (await loaded(here('../../src/main.ts'), args)).flatMap(packageOf);
    expect(fromSource).toContain('commander');
    expect(HEAVY.filter((name) => fromSource.includes(name))).toEqual([]);
    const fromBundle = await loaded(join(dir, 'dist/gpugate.js'), args);
    const inBundle = fromBundle.flatMap((file) => packages.get(file.slice(join(dir, 'dist/').length)) ?? []);
    expect(inBundle).toContain('commander');
    expect(HEAVY.filter((name) => inBundle.includes(name))).toEqual([]);
  });

  it('serve does load a server', async () => {
    const fromSource = (await loaded(here('../../src/main.ts'), ['serve', '--port', 'x'])).flatMap(packageOf);
    expect(fromSource).toContain('fastify');
  });
});
