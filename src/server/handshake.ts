import type { Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { connect } from 'node:tls';
import type { Pair } from '../certificates/pair.ts';
import type { Check } from './health.ts';

const TIMEOUT_MS = 2000;

/** Ready only if a new TLS connection to our own port is given the certificate that was loaded last. */
export function handshakeCheck(server: Server, pair: () => Pair): Check {
  // Probes of two ports, and of impatient operators, share one handshake.
  let running: Promise<string | undefined> | undefined;
  return {
    name: 'handshake',
    problem: () => {
      running ??= handshake(server.address(), pair).finally(() => {
        running = undefined;
      });
      return running;
    },
  };
}

/** Ready only while the certificate is one that the API server accepts. */
export function certificateCheck(pair: () => Pair, now: () => Date): Check {
  return {
    name: 'certificate',
    problem: () => {
      const { notAfter } = pair();
      return now() < notAfter ? undefined : `expired at ${notAfter.toISOString()}`;
    },
  };
}

function handshake(address: AddressInfo | string | null, pair: () => Pair): Promise<string | undefined> {
  if (address === null || typeof address === 'string') return Promise.resolve('not listening');
  return new Promise((resolve) => {
    // Trust is not the question here: the certificate is compared with the very one that was loaded.
    const socket = connect({ host: reachable(address.address), port: address.port, rejectUnauthorized: false });
    const settle = (problem: string | undefined) => {
      socket.destroy();
      resolve(problem);
    };
    socket.setTimeout(TIMEOUT_MS, () => settle(`no TLS handshake within ${TIMEOUT_MS} ms`));
    socket.on('error', (error) => settle(error.message));
    socket.on('secureConnect', () => {
      const served = socket.getPeerX509Certificate();
      // To the end, or the server's side would be one of a handshake that failed.
      socket.end();
      resolve(served?.raw.equals(pair().leaf.raw) ? undefined : 'another certificate is served than the one loaded');
    });
  });
}

function reachable(address: string): string {
  if (address === '0.0.0.0') return '127.0.0.1';
  return address === '::' ? '::1' : address;
}
