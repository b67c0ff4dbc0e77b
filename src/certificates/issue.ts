import type { SelfsignedOptions } from 'selfsigned';

/** Marks a CA, and by its issuer a leaf, as one that gpugate made for development. */
export const CA_NAME = 'gpugate development CA';

/** What a development certificate answers to: this machine, the Service, and a cluster in containers beside us. */
export const DEVELOPMENT_NAMES = {
  dns: ['localhost', 'gpugate', 'gpugate.gpugate', 'gpugate.gpugate.svc', 'host.docker.internal'],
  ip: ['127.0.0.1', '::1'],
} as const;

/** A leaf with its key and the CA that signed it, all PEM. */
export interface Issued {
  readonly certificate: string;
  readonly key: string;
  readonly ca: string;
}

const HOUR = 60 * 60 * 1000;
const DAYS = 365;

/**
 * Makes a CA and a server certificate signed by it. Both live for a year from an hour ago, so that a clock that is
 * late accepts them.
 */
export async function issue(now: Date): Promise<Issued> {
  // Needed once in the life of a directory, and slow to load.
  const { generate } = await import('selfsigned');
  const common: SelfsignedOptions = {
    // Without these selfsigned signs with SHA-1 and RSA, for the name example.org.
    algorithm: 'sha256',
    keyType: 'ec',
    curve: 'P-256',
    notBeforeDate: new Date(now.getTime() - HOUR),
    notAfterDate: new Date(now.getTime() + DAYS * 24 * HOUR),
  };
  const ca = await generate([{ name: 'commonName', value: CA_NAME }], {
    ...common,
    extensions: [
      { name: 'basicConstraints', cA: true, pathLenConstraint: 0, critical: true },
      { name: 'keyUsage', keyCertSign: true, cRLSign: true, critical: true },
    ],
  });
  const leaf = await generate([{ name: 'commonName', value: 'gpugate' }], {
    ...common,
    ca: { key: ca.private, cert: ca.cert },
    extensions: [
      { name: 'basicConstraints', cA: false, critical: true },
      { name: 'keyUsage', digitalSignature: true, critical: true },
      { name: 'extKeyUsage', serverAuth: true },
      {
        name: 'subjectAltName',
        altNames: [
          ...DEVELOPMENT_NAMES.dns.map((value) => ({ type: 2 as const, value })),
          ...DEVELOPMENT_NAMES.ip.map((ip) => ({ type: 7 as const, ip })),
        ],
      },
    ],
  });
  return { certificate: line(leaf.cert), key: line(leaf.private), ca: line(ca.cert) };
}

function line(pem: string): string {
  return `${pem.trimEnd()}\n`;
}
