import { once } from 'node:events';
import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { Agent } from 'node:https';
import { connect as connectTcp, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { connect } from 'node:tls';
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { HANDSHAKE_TIMEOUT_MS } from '../../src/server/tls.ts';
import { type Credential, clientAuthority, clientCertificate } from '../cluster/client-certificates.ts';
import { client } from './client.ts';
import { gpugate, serve } from './gpugate.ts';
import { type Server, startServer } from './server.ts';

let trusted: Credential;
let other: Credential;
let apiServer: Credential;
beforeAll(async () => {
  [trusted, other] = await Promise.all([clientAuthority(), clientAuthority()]);
  apiServer = await clientCertificate(trusted, ['kube-apiserver']);
});

/** More than a socket holds: who is cut off while writing would not see the answer. */
const LARGE = JSON.stringify({ padding: 'x'.repeat(4_000_000) });

/** One connection with a certificate, or without. */
const agentWith = (ca: string, shown?: Credential) =>
  new Agent({ keepAlive: true, maxSockets: 1, ca, ...(shown ? { cert: shown.certificate, key: shown.key } : {}) });

describe('with --client-ca', () => {
  let server: Server;
  beforeEach(async () => {
    server = await startServer({ clients: { authority: trusted.certificate, names: ['kube-apiserver', 'proxy'] } });
    return () => server.stop();
  });

  const ask = async (shown?: Credential, path = '/mutate') => {
    const agent = agentWith(server.issued.ca, shown);
    const method = path === '/mutate' ? 'POST' : 'GET';
    const reply = await server.send({
      path,
      method,
      agent,
      headers: { 'content-type': 'application/json' },
      ...(method === 'POST' ? { body: LARGE } : {}),
    });
    agent.destroy();
    return reply;
  };

  it.each(['kube-apiserver', 'proxy'])('a client with a certificate for %s is answered', async (name) => {
    const reply = await ask(await clientCertificate(trusted, [name]));
    expect(reply.status).toBe(200);
    expect(JSON.parse(reply.text).response.status.message).toContain('AdmissionReview');
    expect(server.lines.filter(({ msg }) => msg === 'a client was refused')).toEqual([]);
  });

  it.each<[string, () => Promise<Credential | undefined>, RegExp]>([
    [
      'no certificate',
      async () => undefined,
      /^gpugate refuses this client: it has no certificate, and --client-ca asks/,
    ],
    ['one of another CA', () => clientCertificate(other, ['kube-apiserver']), /is not trusted \(\w+\)/],
    ['one that signed itself', async () => trusted, /is for "clients"|is not trusted/],
    [
      'another name',
      () => clientCertificate(trusted, ['someone']),
      /is for "someone", and --client-names has kube-apiserver, proxy/,
    ],
    [
      'two names',
      () => clientCertificate(trusted, ['kube-apiserver', 'someone']),
      /is for \["kube-apiserver","someone"\]/,
    ],
    ['none', () => clientCertificate(trusted, []), /--client-names has/],
  ])('a client with %s is refused, without a look at its body', async (_what, make, text) => {
    const shown = await make();
    for (const path of ['/mutate', '/readyz', '/nowhere']) {
      const { status, headers, text: said } = await ask(shown, path);
      expect({ status, connection: headers.connection }).toEqual({ status: 403, connection: 'close' });
      expect(said).toMatch(text);
    }
    expect(server.lines.filter(({ msg }) => msg === 'a client was refused')).toHaveLength(3);
    expect(server.lines.filter(({ msg }) => msg === 'malformed request')).toEqual([]);
    expect(await server.metrics.registry.getSingleMetricAsString('gpugate_refused_clients_total')).toMatch(/ 3$/);
  });

  it('the own readiness check still shakes hands, and counts nowhere', async () => {
    const reply = await fetch(`http://127.0.0.1:${server.metricsPort}/readyz`);
    expect(await reply.text()).toContain('[+] handshake\n');
    expect(reply.status).toBe(200);
    expect(await server.metrics.registry.getSingleMetricAsString('gpugate_refused_clients_total')).toMatch(/ 0$/);
  });

  it('no session is resumed: every connection shows its certificate', async () => {
    const shown = { cert: apiServer.certificate, key: apiServer.key, ca: server.issued.ca };
    let session: Buffer | undefined;
    const reused = async (): Promise<boolean> => {
      const socket = connect({ host: '127.0.0.1', port: server.port, ...shown, ...(session ? { session } : {}) });
      socket.on('session', (ticket: Buffer) => {
        session = ticket;
      });
      await once(socket, 'secureConnect');
      const resumed = socket.isSessionReused();
      socket.write('GET /livez HTTP/1.1\r\nhost: gpugate\r\nconnection: close\r\n\r\n');
      socket.resume();
      await once(socket, 'close');
      return resumed;
    };
    await reused();
    expect(session).toBeDefined();
    expect(await reused()).toBe(false);
  });

  it('another authority holds for the next connection, and the one that stands is told to close', async () => {
    const agent = agentWith(server.issued.ca, apiServer);
    const get = () => server.send({ method: 'GET', path: '/livez', agent });
    expect((await get()).headers.connection).toBe('keep-alive');
    server.app.useClients({ authority: other.certificate, names: ['kube-apiserver'] });
    expect(await get()).toMatchObject({ status: 200, headers: { connection: 'close' } });
    expect(await get()).toMatchObject({ status: 403 });
    agent.destroy();
    expect(await ask(await clientCertificate(other, ['kube-apiserver']))).toMatchObject({ status: 200 });
  });

  describe('the authority changes while a client has connected and not yet shaken hands', () => {
    /** A connection that the server has, without a byte on it. */
    const opened = async (): Promise<Socket> => {
      const arrived = once(server.app.fastify.server, 'connection');
      const socket = connectTcp(server.port, '127.0.0.1');
      await Promise.all([arrived, once(socket, 'connect')]);
      return socket;
    };
    /** Shakes hands on it, and asks once. */
    const askOn = async (socket: Socket, shown: Credential) => {
      const { certificate: cert, key } = shown;
      const agent = new Agent({ keepAlive: true, maxSockets: 1 });
      const secured = connect({ socket, cert, key, ca: server.issued.ca, servername: 'localhost' });
      agent.createConnection = () => secured;
      const { status, headers } = await server.send({ method: 'GET', path: '/livez', agent });
      agent.destroy();
      return { status, connection: headers.connection };
    };
    const distrust = () => server.app.useClients({ authority: other.certificate, names: ['kube-apiserver'] });

    it('one of the old authority is served to the end of its request, and no longer', async () => {
      const socket = await opened();
      distrust();
      expect(await askOn(socket, apiServer)).toEqual({ status: 200, connection: 'close' });
      expect(await askOn(await opened(), apiServer)).toEqual({ status: 403, connection: 'close' });
    });

    it('one of the new authority is refused, told to close, and answered when it comes again', async () => {
      const shown = await clientCertificate(other, ['kube-apiserver']);
      const socket = await opened();
      distrust();
      expect(await askOn(socket, shown)).toEqual({ status: 403, connection: 'close' });
      expect(await askOn(await opened(), shown)).toMatchObject({ status: 200 });
    });

    it('once no handshake can be from before, connections are kept again', async () => {
      const shown = await clientCertificate(other, ['kube-apiserver']);
      distrust();
      expect(await askOn(await opened(), shown)).toEqual({ status: 200, connection: 'close' });
      const now = performance.now.bind(performance);
      const clock = vi.spyOn(performance, 'now').mockImplementation(() => now() + HANDSHAKE_TIMEOUT_MS);
      onTestFinished(() => clock.mockRestore());
      expect(await askOn(await opened(), shown)).toEqual({ status: 200, connection: 'keep-alive' });
    });
  });

  it('a renewed certificate of ours leaves the check as it was', async () => {
    const { pair } = await renewed();
    server.app.usePair(pair);
    const agent = agentWith(pair.ca, undefined);
    expect(await server.send({ method: 'GET', path: '/livez', agent })).toMatchObject({ status: 403 });
    agent.destroy();
  });
});

async function renewed() {
  const [{ issue }, { checkPair }] = await Promise.all([
    import('../../src/certificates/issue.ts'),
    import('../../src/certificates/pair.ts'),
  ]);
  const issued = await issue(new Date());
  return { pair: { ...checkPair('certs', issued), ca: issued.ca } };
}

describe('gpugate serve --client-ca', () => {
  let dir: string;
  let file: string;
  beforeAll(async () => {
    dir = await mkdtemp(join(tmpdir(), 'gpugate-'));
    file = join(dir, 'ca.crt');
    await writeFile(file, trusted.certificate);
  });
  afterAll(() => rm(dir, { recursive: true }));

  it('follows the file; one that holds no certificate changes nothing', async () => {
    const served = await serve(['--client-ca', file, '--shutdown-delay', '0']);
    const { send, close } = client(served.port, served.ca);
    const ask = async (shown: Credential) => {
      const agent = agentWith(served.ca, shown);
      const { status } = await send({ method: 'GET', path: '/livez', agent });
      agent.destroy();
      return status;
    };
    const counted = async (result: string) =>
      (await (await fetch(`http://127.0.0.1:${served.metricsPort}/metrics`)).text()).includes(
        `gpugate_client_ca_reloads_total{result="${result}"} 1\n`,
      );
    const replace = async (text: string) => {
      await writeFile(`${file}.next`, text);
      await rename(`${file}.next`, file);
    };
    expect(await ask(apiServer)).toBe(200);
    await replace('nothing');
    while (!(await counted('failure'))) await sleep(50);
    expect(await ask(apiServer)).toBe(200);
    await replace(other.certificate);
    while (!(await counted('success'))) await sleep(50);
    expect(await ask(apiServer)).toBe(403);
    expect(await ask(await clientCertificate(other, ['kube-apiserver']))).toBe(200);
    close();
    served.signal('SIGTERM');
    const { stdout } = await served.ended;
    expect(stdout).toContain(
      `"reason":"${file}: no PEM certificate; put the CA of the API server's client certificate there"`,
    );
    await served.remove();
  });

  it.each([
    ['nothing', 'no PEM certificate'],
    ['-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----', "a certificate in it can't be read"],
  ])('does not start with %j', async (text, words) => {
    const wrong = join(dir, 'wrong.crt');
    await writeFile(wrong, text);
    const { code, stderr } = await gpugate(['serve', '--cert-dir', join(dir, 'certs'), '--client-ca', wrong]);
    expect({ code, stderr }).toEqual({
      code: 3,
      stderr: `gpugate: ${wrong}: ${words}; put the CA of the API server's client certificate there\n`,
    });
  });
});
