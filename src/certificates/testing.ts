import { type Authority, authorityName, type Content, readAuthority } from './content.ts';
import { type Pair, parsePair } from './pair.ts';
import { makeAuthority, makeLeaf } from './sign.ts';

const DAY = 24 * 60 * 60 * 1000;

/** The moment at which tests of certificates play. */
export const NOW = new Date('2030-06-01T12:00:00Z');

/** So many days after (or before) that moment. */
export const inDays = (days: number) => new Date(NOW.getTime() + days * DAY);

export const NAMES = ['gpugate', 'gpugate.gpugate', 'gpugate.gpugate.svc'];

/** A CA that holds from one day to another, counted from now. */
export async function authority(from: number, to: number): Promise<Authority> {
  const { certificate, key } = await makeAuthority(authorityName(), { notBefore: inDays(from), notAfter: inDays(to) });
  return readAuthority(certificate, key) as Authority;
}

/** A leaf of a CA that ends in so many days. */
export async function leaf(of: Authority, days: number, dns: readonly string[] = NAMES): Promise<Pair> {
  return parsePair('', await makeLeaf(of, { dns }, { notBefore: of.x509.validFromDate, notAfter: inDays(days) }));
}

/** What a Secret holds: everything of one CA, but for what is told. */
export function content(of: Authority | undefined, pair: Pair | undefined, more: Partial<Content> = {}): Content {
  return {
    authority: of,
    pair,
    bundle: of ? [of.x509] : [],
    overlapUntil: undefined,
    renew: undefined,
    ...more,
  };
}
