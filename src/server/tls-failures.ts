import type { Server } from 'node:https';
import type { Logger } from 'pino';
import type { Metrics } from './metrics.ts';

type Reason = 'not_trusted' | 'client_certificate' | 'protocol' | 'timeout' | 'closed' | 'other';

// OpenSSL's names. An alert is what the client said; Go says "bad certificate" whatever it dislikes (crypto/tls).
const REASONS: readonly (readonly [RegExp, Reason])[] = [
  [/ALERT_(BAD_CERTIFICATE|UNKNOWN_CA|CERTIFICATE_(UNKNOWN|EXPIRED|REVOKED)|UNSUPPORTED_CERTIFICATE)/, 'not_trusted'],
  [/PEER_DID_NOT_RETURN_A_CERTIFICATE|CERTIFICATE_VERIFY_FAILED/, 'client_certificate'],
  [/^ERR_TLS_HANDSHAKE_TIMEOUT$/, 'timeout'],
  [/^(ECONNRESET|EPIPE)$/, 'closed'],
  [/^ERR_SSL_/, 'protocol'],
];

/** Counts handshakes that failed, and logs those that somebody should look at. */
export function countTlsFailures(server: Server, metrics: Metrics, logger: Pick<Logger, 'warn' | 'debug'>): void {
  server.on('tlsClientError', (error: NodeJS.ErrnoException, socket) => {
    const code = error.code ?? '';
    const reason = REASONS.find(([pattern]) => pattern.test(code))?.[1] ?? 'other';
    metrics.tlsFailures.inc({ reason });
    const level = reason === 'not_trusted' || reason === 'client_certificate' ? 'warn' : 'debug';
    logger[level]({ reason, code, from: socket.remoteAddress }, TEXTS[reason] ?? 'a TLS handshake failed');
  });
}

const TEXTS: Partial<Record<Reason, string>> = {
  not_trusted: 'a client does not trust our certificate: is the caBundle of the webhook configurations the CA of it?',
  client_certificate: 'a client without a certificate that --client-ca trusts was refused',
};
