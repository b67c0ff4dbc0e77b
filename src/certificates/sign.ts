import type { SelfsignedOptions } from 'selfsigned';

/** A certificate and its key, both PEM. */
export interface Signed {
  readonly certificate: string;
  readonly key: string;
}

/** From when to when a certificate holds. X.509 keeps whole seconds. */
export interface Validity {
  readonly notBefore: Date;
  readonly notAfter: Date;
}

/** What a server's certificate answers to. */
export interface Names {
  readonly dns: readonly string[];
  readonly ip?: readonly string[];
}

/** Makes a CA that signs servers' certificates and no further CA: EC P-256, SHA-256. */
export function makeAuthority(name: string, validity: Validity): Promise<Signed> {
  return make(name, validity, {
    extensions: [
      { name: 'basicConstraints', cA: true, pathLenConstraint: 0, critical: true },
      { name: 'keyUsage', keyCertSign: true, cRLSign: true, critical: true },
    ],
  });
}

/** Makes a server's certificate under a CA that `makeAuthority` made. */
export function makeLeaf(authority: Signed, { dns, ip = [] }: Names, validity: Validity): Promise<Signed> {
  return make('gpugate', validity, {
    ca: { key: authority.key, cert: authority.certificate },
    extensions: [
      { name: 'basicConstraints', cA: false, critical: true },
      { name: 'keyUsage', digitalSignature: true, critical: true },
      { name: 'extKeyUsage', serverAuth: true },
      {
        name: 'subjectAltName',
        altNames: [
          ...dns.map((value) => ({ type: 2 as const, value })),
          ...ip.map((value) => ({ type: 7 as const, ip: value })),
        ],
      },
    ],
  });
}

async function make(name: string, { notBefore, notAfter }: Validity, more: SelfsignedOptions): Promise<Signed> {
  // Slow to load, and needed only when a certificate is made.
  const { generate } = await import('selfsigned');
  const made = await generate([{ name: 'commonName', value: name }], {
    // Without these selfsigned signs with SHA-1 and RSA, for the name example.org.
    algorithm: 'sha256',
    keyType: 'ec',
    curve: 'P-256',
    notBeforeDate: notBefore,
    notAfterDate: notAfter,
    ...more,
  });
  return { certificate: line(made.cert), key: line(made.private) };
}

function line(pem: string): string {
  return `${pem.trimEnd()}\n`;
}
