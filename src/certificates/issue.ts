import { makeAuthority, makeLeaf } from './sign.ts';

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
  const validity = {
    notBefore: new Date(now.getTime() - HOUR),
    notAfter: new Date(now.getTime() + DAYS * 24 * HOUR),
  };
  const authority = await makeAuthority(CA_NAME, validity);
  const leaf = await makeLeaf(authority, DEVELOPMENT_NAMES, validity);
  return { ...leaf, ca: authority.certificate };
}
