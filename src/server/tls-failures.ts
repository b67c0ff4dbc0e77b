import type { Server } from 'node:https';
import type { Logger } from 'pino';
import type { Metrics, TlsFailure } from './metrics.ts';

// OpenSSL's names. An alert is what the client said; Go says "bad certificate" whatever it dislikes (crypto/tls), OpenSSL
// "decrypt error" where it trusts another CA of the same name.
const REASONS: readonly (readonly [RegExp, TlsFailure])[] = [
  [
    /ALERT_(BAD_CERTIFICATE|UNKNOWN_CA|DECRYPT_ERROR|CERTIFICATE_(UNKNOWN|EXPIRED|REVOKED)|UNSUPPORTED_CERTIFICATE)/,
    'not_trusted',
  ],
  [/^ERR_TLS_HANDSHAKE_TIMEOUT$/, 'timeout'],
  [/^(ECONNRESET|EPIPE)$/, 'closed'],
  [/^ERR_SSL_/, 'protocol'],
];

const NOT_TRUSTED =
  'a client does not trust our certificate: is the caBundle of the webhook configurations the CA that signed it?';

/** Counts handshakes that failed, and logs those that somebody should look at. */
export function countTlsFailures(server: Server, metrics: Metrics, logger: Pick<Logger, 'warn' | 'debug'>): void {
  server.on('tlsClientError', (error: NodeJS.ErrnoException) => {
    const code = error.code ?? '';
    const reason: TlsFailure = REASONS.find(([pattern]) => pattern.test(code))?.[1] ?? 'other';
    metrics.tlsFailures.inc({ reason });
    if (reason === 'not_trusted') {
      logger.warn({ code }, NOT_TRUSTED);
    } else {
      logger.debug({ reason, code }, 'a TLS handshake failed');
    }
  });
}
