import { X509Certificate } from 'node:crypto';
import type { Server } from 'node:https';
import type { Readable } from 'node:stream';
import { finished } from 'node:stream/promises';
import type { TLSSocket } from 'node:tls';
import type { FastifyInstance, FastifyReply } from 'fastify';
import type { Logger } from 'pino';
import type { Metrics } from './metrics.ts';
import { HANDSHAKE_TIMEOUT_MS } from './tls.ts';

/** Who may send reviews: holders of a certificate that the authority signed, with one of the names as its common name. */
export interface Clients {
  /** PEM, one certificate or several. */
  readonly authority: string;
  readonly names: readonly string[];
}

/** Checks that a text holds certificates. Throws an Error of one line that names the file and the fix. */
export function checkAuthority(file: string, text: string): string {
  const blocks = text.match(/-----BEGIN CERTIFICATE-----[\s\S]*?-----END CERTIFICATE-----/g) ?? [];
  try {
    for (const block of blocks) new X509Certificate(block);
  } catch {
    throw new Error(
      `${file}: a certificate in it can't be read; put the CA of the API server's client certificate there`,
    );
  }
  if (blocks.length === 0) {
    throw new Error(`${file}: no PEM certificate; put the CA of the API server's client certificate there`);
  }
  return text;
}

/**
 * Refuses every request whose connection has no such certificate, with 403, and without a look at its body. The handshake itself
 * lets all by: OpenSSL would end it without a word that the API server could show, and our own readiness check, which has
 * no certificate, would be refused too.
 */
export function admitClients(
  app: FastifyInstance,
  server: Server,
  current: () => Clients,
  metrics: Metrics,
  logger: Pick<Logger, 'warn'>,
): void {
  /** What each connection was checked against, and what was wrong with it. */
  const checked = new WeakMap<object, Checked>();
  let last = current();
  let changedAt = Number.NEGATIVE_INFINITY;
  server.on('secureConnection', (socket) => {
    const clients = current();
    if (clients !== last) changedAt = performance.now();
    last = clients;
    // A handshake that began before the change was still checked against the authority before; none lasts longer than this.
    const old = performance.now() - changedAt < HANDSHAKE_TIMEOUT_MS;
    const until = socket.getPeerX509Certificate()?.validToDate;
    checked.set(socket, { clients: old ? undefined : clients, until, problem: problemOf(socket, clients) });
  });

  app.addHook('onRequest', async (request, reply): Promise<FastifyReply | undefined> => {
    const { clients, until, ...check } = checked.get(request.raw.socket) ?? UNCHECKED;
    const problem =
      check.problem ?? (until && until.getTime() < Date.now() ? 'its certificate has expired' : undefined);
    // Another authority is in force: this connection is served to the end, and the next one is checked anew.
    if (clients !== current()) reply.header('connection', 'close');
    if (problem === undefined) return undefined;
    metrics.refusedClients.inc();
    logger.warn({ from: request.ip, path: request.url, problem }, 'a client was refused');
    await drop(request.raw);
    return reply
      .code(403)
      .header('connection', 'close')
      .type('text/plain')
      .send(`gpugate refuses this client: ${problem}\n`);
  });
}

/** What a connection was checked against when it came. */
interface Checked {
  /** Undefined where that may have been another authority than the one in force. */
  readonly clients: Clients | undefined;
  /** When the client's certificate expires. */
  readonly until: Date | undefined;
  readonly problem: string | undefined;
}

const UNCHECKED: Checked = { clients: undefined, until: undefined, problem: 'it was not checked' };

/** A sender that is cut off while writing loses our answer to a connection reset. The server's requestTimeout ends what is endless. */
async function drop(body: Readable): Promise<void> {
  body.resume();
  await finished(body).catch(() => undefined);
}

function problemOf(socket: TLSSocket, { names }: Clients): string | undefined {
  const certificate = socket.getPeerX509Certificate();
  if (certificate === undefined) return 'it has no certificate, and --client-ca asks for one';
  if (!socket.authorized) return `its certificate is not trusted (${socket.authorizationError})`;
  // Several common names are an array.
  const { CN: name }: { CN?: unknown } = certificate.toLegacyObject().subject;
  if (typeof name === 'string' && names.includes(name)) return undefined;
  return `its certificate is for ${JSON.stringify(name)}, and --client-names has ${names.join(', ')}`;
}
