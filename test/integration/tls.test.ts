import { X509Certificate } from 'node:crypto';
import { mkdir, mkdtemp, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { Agent } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ConnectionOptions, TLSSocket } from 'node:tls';
import { connect } from 'node:tls';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Issued } from '../../src/certificates/issue.ts';
import { issue } from '../../src/certificates/issue.ts';
import type { Pair } from '../../src/certificates/pair.ts';
import { checkPair, loadPair } from '../../src/certificates/pair.ts';
import { watchPair } from '../../src/certificates/watch.ts';
import { tlsOptions } from '../../src/server/tls.ts';
import { client } from './client.ts';
import type { Server } from './server.ts';
import { startServer } from './server.ts';

/** The serial number of the certificate that a new connection is given; rejects if the handshake fails. */
async function handshake(server: Server, options: ConnectionOptions = {}) {
  const socket = await new Promise<TLSSocket>((resolve, reject) => {
    const opened = connect({ host: '127.0.0.1', port: server.port, rejectUnauthorized: false, ...options }, () =>
      resolve(opened),
    );
    opened.on('error', reject);
  });
  const seen = {
    protocol: socket.getProtocol(),
    alpn: socket.alpnProtocol,
    serial: socket.getPeerX509Certificate()?.serialNumber,
  };
  socket.destroy();
  return seen;
}

const serialOf = (issued: Issued) => checkPair('certs', issued).leaf.serialNumber;

describe('the port of the webhook', () => {
  let server: Server;
  beforeEach(async () => {
    server = await startServer();
  });
  afterEach(() => server.stop());

  it('speaks TLS 1.3', async () => {
    expect((await handshake(server)).protocol).toBe('TLSv1.3');
  });

  it('refuses TLS 1.2', async () => {
    await expect(handshake(server, { maxVersion: 'TLSv1.2' })).rejects.toThrow(/protocol version/);
  });

  it('takes HTTP/1.1 from a client that offers HTTP/2 as well', async () => {
    expect((await handshake(server, { ALPNProtocols: ['h2', 'http/1.1'] })).alpn).toBe('http/1.1');
  });

  it('refuses a client that offers HTTP/2 only', async () => {
    await expect(handshake(server, { ALPNProtocols: ['h2'] })).rejects.toThrow(/no application protocol/);
  });

  it('is trusted by the CA for the names of the Service', async () => {
    const { ca } = server.issued;
    await expect(
      handshake(server, { ca, rejectUnauthorized: true, servername: 'gpugate.gpugate.svc' }),
    ).resolves.toBeDefined();
    await expect(handshake(server, { ca, rejectUnauthorized: true, servername: 'other.svc' })).rejects.toThrow(
      /altnames/,
    );
  });

  it('keeps connections for longer than the 90 s of the API server', async () => {
    const { headers } = await server.send({ method: 'GET', path: '/livez' });
    expect(headers).toMatchObject({ connection: 'keep-alive', 'keep-alive': 'timeout=120' });
    expect(server.app.fastify.server.keepAliveTimeout).toBe(120_000);
    expect(server.app.fastify.server.requestTimeout).toBe(15_000);
  });

  it('answers many requests on one connection', async () => {
    const one = new Agent({ keepAlive: true, maxSockets: 1, ca: server.issued.ca });
    let connections = 0;
    server.app.fastify.server.on('secureConnection', () => {
      connections += 1;
    });
    for (let sent = 0; sent < 5; sent += 1) await server.send({ method: 'GET', path: '/livez', agent: one });
    one.destroy();
    expect(connections).toBe(1);
  });
});

describe('a renewed certificate', () => {
  let dir: string;
  let first: Issued;
  let second: Issued;
  let server: Server;
  let stopWatching: () => void;
  let events: (Pair | Error)[];
  let wake: () => void;

  /** Resolves at the first event that fits; a look between the two reads of a swap can give another one before. */
  async function seen(fits: (event: Pair | Error) => boolean): Promise<void> {
    for (;;) {
      while (events.length === 0) {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
      if (fits(events.shift() as Pair | Error)) return;
    }
  }
  const loaded = (event: Pair | Error) => !(event instanceof Error);
  const fault = (message: string) => (event: Pair | Error) => event instanceof Error && event.message.includes(message);

  /** Replaces one file at once, so that no look sees half of it. */
  async function replace(file: string, text: string): Promise<void> {
    await writeFile(join(dir, 'written'), text);
    await rename(join(dir, 'written'), join(dir, '..1', file));
  }

  /** Puts a generation of files where the kubelet puts those of a mounted Secret: behind a link that is swapped. */
  async function swap(generation: string, issued: Issued): Promise<void> {
    await mkdir(join(dir, generation));
    await writeFile(join(dir, generation, 'tls.crt'), issued.certificate);
    await writeFile(join(dir, generation, 'tls.key'), issued.key);
    if (issued.ca !== '') await writeFile(join(dir, generation, 'ca.crt'), issued.ca);
    await symlink(generation, join(dir, '..data_tmp'));
    await rename(join(dir, '..data_tmp'), join(dir, '..data'));
  }

  beforeEach(async () => {
    dir = await mkdtemp(join(tmpdir(), 'gpugate-'));
    [first, second] = await Promise.all([issue(new Date()), issue(new Date())]);
    await swap('..1', first);
    await symlink(join('..data', 'tls.crt'), join(dir, 'tls.crt'));
    await symlink(join('..data', 'tls.key'), join(dir, 'tls.key'));
    await symlink(join('..data', 'ca.crt'), join(dir, 'ca.crt'));
    server = await startServer({ issued: first });
    events = [];
    const note = (event: Pair | Error) => {
      events.push(event);
      wake?.();
    };
    stopWatching = watchPair(dir, {
      pair: await loadPair(dir),
      intervalMs: 50,
      onPair: (pair) => {
        server.app.usePair(pair);
        note(pair);
      },
      onFault: note,
    });
  });
  afterEach(async () => {
    stopWatching();
    await server.stop();
    await rm(dir, { recursive: true });
  });

  it('is served to new connections after the link was swapped, while an old connection lives on', async () => {
    const one = new Agent({ keepAlive: true, maxSockets: 1, ca: first.ca });
    const requests = client(server.port, first.ca);
    await requests.send({ method: 'GET', path: '/livez', agent: one });

    await swap('..2', second);
    await seen(loaded);

    expect((await handshake(server)).serial).toBe(serialOf(second));
    expect(serialOf(second)).not.toBe(serialOf(first));
    // The agent trusts the first CA only, so a new connection would fail.
    expect((await requests.send({ method: 'GET', path: '/livez', agent: one })).status).toBe(200);
    one.destroy();
    await expect(requests.send({ method: 'GET', path: '/livez' })).rejects.toThrow();
    expect((await client(server.port, second.ca).send({ method: 'GET', path: '/readyz' })).text).toContain(
      '[+] handshake',
    );
  });

  it('has the life of the CA beside it in the metrics, and nothing of one that is missing or did not sign it', async () => {
    const lifeOfCa = async () => {
      const text = await server.metrics.registry.metrics();
      const sampleOf = (end: string) =>
        new RegExp(`^gpugate_certificate_authority_${end}_timestamp_seconds (\\d+)$`, 'm');
      return ['not_before', 'expiry'].map((end) => sampleOf(end).exec(text)?.[1]);
    };
    const lifeIn = (issued: Issued) => {
      const { validFromDate, validToDate } = new X509Certificate(issued.ca);
      return [validFromDate, validToDate].map((date) => String(date.getTime() / 1000));
    };
    expect(await lifeOfCa()).toEqual(lifeIn(first));

    const later = await issue(new Date(Date.now() + 30 * 60 * 1000));
    await swap('..2', later);
    await seen(loaded);
    expect(await lifeOfCa()).toEqual(lifeIn(later));

    await swap('..3', { ...later, ca: first.ca });
    await seen(loaded);
    expect(await lifeOfCa()).toEqual([undefined, undefined]);
    await swap('..4', { ...later, ca: `${first.ca}${later.ca}` });
    await seen(loaded);
    expect(await lifeOfCa()).toEqual(lifeIn(later));
    await swap('..5', { ...later, ca: 'nonsense' });
    await seen(loaded);
    expect(await lifeOfCa()).toEqual([undefined, undefined]);
    await swap('..6', second);
    await seen(loaded);
    expect(await lifeOfCa()).toEqual(lifeIn(second));
    await swap('..7', { ...second, ca: '' });
    await seen(loaded);
    expect(await lifeOfCa()).toEqual([undefined, undefined]);
  });

  it('is served once its second file is there, and until then the last good pair', async () => {
    await replace('tls.crt', second.certificate);
    await seen(fault(`${join(dir, 'tls.key')}: not the key of tls.crt; put a matching pair there`));
    expect((await handshake(server)).serial).toBe(serialOf(first));

    await replace('tls.key', second.key);
    await seen(loaded);
    expect((await handshake(server)).serial).toBe(serialOf(second));
  });

  it('is not served if it is no certificate, cut short, expired, or gone', async () => {
    const old = await issue(new Date(Date.now() - 2 * 365 * 24 * 60 * 60 * 1000));
    const wrong: [string, Issued][] = [
      ['not a PEM certificate', { ...second, certificate: 'nonsense' }],
      ['cut short', { ...second, certificate: `${second.certificate}${second.ca.slice(0, 300)}` }],
      ['not a PEM private key', { ...second, key: second.key.slice(0, 60) }],
      ['not a PEM certificate', { ...second, certificate: second.certificate.slice(0, 300) }],
      ['not the key', { ...second, key: first.key }],
      ['expired at', old],
    ];
    for (const [at, [message, issued]] of wrong.entries()) {
      await swap(`..${at + 2}`, issued);
      await seen(fault(message));
    }
    await rm(join(dir, '..data'));
    await seen(fault('ENOENT'));
    expect((await handshake(server)).serial).toBe(serialOf(first));
  });

  it('is served once it is whole, where a full disk first took only a part of it', async () => {
    const chain = `${second.certificate}${second.ca}`;
    await replace('tls.key', second.key);
    for (const [part, message] of [
      [0.2, 'not a PEM certificate'],
      [0.8, 'cut short'],
    ] as const) {
      // In place, as a plain program writes, and not by a rename.
      await writeFile(join(dir, '..1', 'tls.crt'), chain.slice(0, chain.length * part));
      await seen(fault(message));
      expect((await handshake(server)).serial).toBe(serialOf(first));
    }
    await writeFile(join(dir, '..1', 'tls.crt'), chain);
    await seen(loaded);
    expect((await handshake(server)).serial).toBe(serialOf(second));
  });
});

describe('readiness', () => {
  it('fails when another certificate is served than the one that was loaded', async () => {
    const server = await startServer();
    expect((await server.send({ method: 'GET', path: '/readyz' })).status).toBe(200);
    const other = await issue(new Date());
    (server.app.fastify.server as never as { setSecureContext(options: object): void }).setSecureContext(
      tlsOptions(checkPair('certs', other)),
    );
    const { status, text } = await server.send({ method: 'GET', path: '/readyz' });
    expect(status).toBe(503);
    expect(text).toContain('[-] handshake: another certificate is served than the one loaded');
    await server.stop();
  });

  it('fails once the certificate has expired, and liveness does not', async () => {
    const past = new Date(Date.now() - 2 * 365 * 24 * 60 * 60 * 1000);
    const server = await startServer({ now: past });
    const agent = new Agent({ rejectUnauthorized: false });
    const { status, text } = await server.send({ method: 'GET', path: '/readyz', agent });
    expect(status).toBe(503);
    expect(text).toMatch(/^\[-\] certificate: expired at /m);
    expect((await server.send({ method: 'GET', path: '/livez', agent })).status).toBe(200);
    await server.stop();
  });
});
