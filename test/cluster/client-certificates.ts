import { generate, type SelfsignedOptions } from 'selfsigned';

/** A key with its certificate, both PEM. */
export interface Credential {
  readonly certificate: string;
  readonly key: string;
}

const HOUR = 3_600_000;

/** Makes a CA of its own. */
export function clientAuthority(): Promise<Credential> {
  return make(['clients'], {
    extensions: [
      { name: 'basicConstraints', cA: true, critical: true },
      { name: 'keyUsage', keyCertSign: true, cRLSign: true, critical: true },
    ],
  });
}

/** Makes a client certificate with these common names, as an API server has one. */
export function clientCertificate(authority: Credential, names: readonly string[]): Promise<Credential> {
  return make(names, {
    ca: { key: authority.key, cert: authority.certificate },
    extensions: [
      { name: 'basicConstraints', cA: false, critical: true },
      { name: 'keyUsage', digitalSignature: true, critical: true },
      { name: 'extKeyUsage', clientAuth: true },
    ],
  });
}

async function make(names: readonly string[], more: SelfsignedOptions): Promise<Credential> {
  const now = Date.now();
  const made = await generate(
    names.map((value) => ({ name: 'commonName', value })),
    {
      algorithm: 'sha256',
      keyType: 'ec',
      curve: 'P-256',
      notBeforeDate: new Date(now - HOUR),
      notAfterDate: new Date(now + 24 * HOUR),
      ...more,
    },
  );
  return { certificate: made.cert, key: made.private };
}
