import { constants } from 'node:crypto';
import type { Pair } from '../certificates/pair.ts';
import type { Clients } from './clients.ts';

/** After this the server ends a handshake that is still under way. */
export const HANDSHAKE_TIMEOUT_MS = 10_000;

/** The TLS options of the webhook's port; whole each time, since `setSecureContext` forgets what it isn't told. */
export function tlsOptions(pair: Pair, clients?: Clients) {
  return {
    cert: pair.certificate,
    key: pair.key,
    minVersion: 'TLSv1.3' as const,
    // The API server speaks HTTP/1.1 to webhooks by itself (kubernetes/kubernetes#75791); offering HTTP/2 would only
    // open its denial-of-service faults (CVE-2023-44487).
    ALPNProtocols: ['http/1.1'],
    ...(clients ? verifying(clients) : {}),
  };
}

/** Asks for a certificate on every connection: a session that is resumed by a ticket would bring the verdict of an earlier authority. */
function verifying({ authority }: Clients) {
  return {
    ca: authority,
    requestCert: true,
    rejectUnauthorized: false,
    secureOptions: constants.SSL_OP_NO_TICKET,
  };
}
