import { isIP } from 'node:net';
import { type ConnectionOptions, connect, type TLSSocket } from 'node:tls';
import type { Handshake } from './input.ts';

const TIMEOUT_MS = 5000;

/** Where to shake hands, under which name, and the caBundle (base64 of PEM) that must make the leaf trusted. */
interface At {
  readonly host: string;
  readonly port: number;
  readonly name: string;
  readonly caBundle: string;
}

/** One TLS handshake, as the API server makes it. Never rejects. */
export function handshakeWith({ host, port, name, caBundle }: At): Promise<Handshake> {
  const address = `${host}:${port}`;
  return new Promise((resolve) => {
    const options: ConnectionOptions = {
      host,
      port,
      ...(caBundle === '' ? {} : { ca: Buffer.from(caBundle, 'base64') }),
      // Looked at instead of refused, so that the leaf is seen in any case.
      rejectUnauthorized: false,
      ...(isIP(name) === 0 ? { servername: name } : {}),
    };
    const settle = (handshake: Omit<Handshake, 'address'>) => {
      socket?.destroy();
      resolve({ address, ...handshake });
    };
    let socket: TLSSocket | undefined;
    try {
      socket = connect(options);
    } catch (error) {
      // The caBundle is no certificate.
      return settle({ problem: (error as Error).message });
    }
    socket.setTimeout(TIMEOUT_MS, () => settle({ problem: `no answer within ${TIMEOUT_MS / 1000} s` }));
    socket.on('error', (error) => settle({ problem: error.message }));
    socket.on('secureConnect', () => {
      const leaf = socket.getPeerX509Certificate();
      if (!leaf) return settle({ problem: 'no certificate is served' });
      const reason = socket.authorizationError;
      const named = isIP(name) === 0 ? leaf.checkHost(name) : leaf.checkIP(name);
      const problem = reason ? String(reason) : named ? undefined : `it is not for the name ${name}`;
      settle({
        leaf: { notBefore: leaf.validFromDate, notAfter: leaf.validToDate, serial: leaf.serialNumber },
        ...(problem === undefined ? {} : { problem }),
      });
    });
  });
}
