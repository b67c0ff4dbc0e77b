import { createPrivateKey, randomBytes, X509Certificate } from 'node:crypto';
import { type Pair, parsePair } from './pair.ts';
import type { Signed } from './sign.ts';
import { readCertificates } from './x509.ts';

/** A CA that can sign. */
export interface Authority extends Signed {
  readonly x509: X509Certificate;
}

/** What a Secret of certificates holds, so far as it can be used. Nothing here says whether it is valid now. */
export interface Content {
  readonly authority: Authority | undefined;
  readonly pair: Pair | undefined;
  /** CAs to trust: the one that signs, then those that are on their way out. */
  readonly bundle: readonly X509Certificate[];
  /** When the CAs on their way out may go. */
  readonly overlapUntil: Date | undefined;
  /** What someone asked to be renewed at once. */
  readonly renew: 'ca' | 'leaf' | undefined;
}

/** The content, and a line for each part that is there and can't be used. */
export interface Read {
  readonly content: Content;
  readonly faults: readonly string[];
}

/** A Secret as the API server gives it. */
export interface SecretObject {
  readonly metadata?: {
    readonly resourceVersion?: string;
    readonly annotations?: Readonly<Record<string, string>>;
  };
  readonly data?: Readonly<Record<string, string>> | null;
}

/** The keys of the Secret. */
export const KEYS = {
  authority: 'ca.crt',
  authorityKey: 'ca.key',
  leaf: 'tls.crt',
  leafKey: 'tls.key',
  bundle: 'ca-bundle.crt',
} as const;

/** Annotations of the Secret: when old CAs may go, and what a person asks to be renewed (`ca` or `leaf`). */
const OVERLAP_UNTIL = 'gpugate.dev/overlap-until';
const RENEW = 'gpugate.dev/renew';

/** Reads a Secret. An empty one is no fault: it was made beforehand to be filled. No fault repeats what a key holds. */
export function readContent(secret: SecretObject): Read {
  const faults: string[] = [];
  const text = (key: string) => Buffer.from(secret.data?.[key] ?? '', 'base64').toString('utf8');
  const [authority, pair, bundle] = [
    attempt(() => readAuthority(text(KEYS.authority), text(KEYS.authorityKey)), faults),
    attempt(() => readLeaf(text(KEYS.leaf), text(KEYS.leafKey)), faults),
    attempt(() => readBundle(text(KEYS.bundle)), faults),
  ];
  const { [OVERLAP_UNTIL]: until, [RENEW]: renew } = secret.metadata?.annotations ?? {};
  const overlapUntil = until === undefined ? undefined : new Date(until);
  if (overlapUntil && Number.isNaN(overlapUntil.getTime())) faults.push(`${OVERLAP_UNTIL}: not a time`);
  if (renew !== undefined && !isRenewable(renew)) faults.push(`${RENEW}: neither ca nor leaf`);
  return {
    content: {
      authority,
      pair,
      bundle: bundle ?? [],
      overlapUntil: Number.isNaN(overlapUntil?.getTime()) ? undefined : overlapUntil,
      renew: isRenewable(renew) ? renew : undefined,
    },
    faults,
  };
}

/** The data and annotations that hold the content; null takes an annotation away, as in a merge patch. */
export function writeContent({ authority, pair, bundle, overlapUntil, renew }: Content): {
  readonly data: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string | null>>;
} {
  const texts: Readonly<Record<string, string>> = {
    [KEYS.authority]: authority?.certificate ?? '',
    [KEYS.authorityKey]: authority?.key ?? '',
    [KEYS.leaf]: pair?.certificate ?? '',
    [KEYS.leafKey]: pair?.key ?? '',
    [KEYS.bundle]: bundleText(bundle),
  };
  return {
    data: Object.fromEntries(
      Object.entries(texts).map(([key, content]) => [key, Buffer.from(content).toString('base64')]),
    ),
    annotations: {
      [OVERLAP_UNTIL]: overlapUntil?.toISOString() ?? null,
      [RENEW]: renew ?? null,
    },
  };
}

/** The bundle as it is published. */
export function bundleText(bundle: readonly X509Certificate[]): string {
  return bundle.map((certificate) => `${certificate.toString().trimEnd()}\n`).join('');
}

/**
 * A name for a new CA. Several of them are trusted while they overlap, and selfsigned offers no key ids by which clients could
 * tell those of one name apart.
 */
export function authorityName(): string {
  return `gpugate CA ${randomBytes(8).toString('hex')}`;
}

/**
 * A CA of ours as the two texts have it. Throws what is wrong with them. One of another maker can't sign: its name would be written
 * anew into the certificate, perhaps in another encoding, and Go compares the bytes of names (crypto/x509, CertPool).
 */
export function readAuthority(certificate: string, key: string): Authority | undefined {
  if (certificate === '' && key === '') return undefined;
  const x509 = parsed(() => new X509Certificate(certificate), KEYS.authority, 'not a PEM certificate');
  const privateKey = parsed(() => createPrivateKey(key), KEYS.authorityKey, 'not a PEM private key');
  if (!x509.ca) throw new Error(`${KEYS.authority}: not the certificate of a CA`);
  if (!x509.checkPrivateKey(privateKey)) throw new Error(`${KEYS.authorityKey}: not the key of ${KEYS.authority}`);
  if (!/^CN=gpugate CA [0-9a-f]{16}$/.test(x509.subject))
    throw new Error(`${KEYS.authority}: not a CA that gpugate made`);
  return { certificate, key, x509 };
}

function readLeaf(certificate: string, key: string): Pair | undefined {
  return certificate === '' && key === '' ? undefined : parsePair('', { certificate, key });
}

function readBundle(text: string): X509Certificate[] {
  const found = parsed(() => readCertificates(text), KEYS.bundle, 'not a bundle of PEM certificates');
  if (found.length === 0 && text.trim() !== '') throw new Error(`${KEYS.bundle}: holds no PEM certificate`);
  return found;
}

function isRenewable(value: string | undefined): value is 'ca' | 'leaf' {
  return value === 'ca' || value === 'leaf';
}

function attempt<T>(read: () => T, faults: string[]): T | undefined {
  try {
    return read();
  } catch (error) {
    faults.push((error as Error).message);
    return undefined;
  }
}

/** OpenSSL's own messages may be of any length and tell nothing that helps. */
function parsed<T>(read: () => T, key: string, problem: string): T {
  try {
    return read();
  } catch {
    throw new Error(`${key}: ${problem}`);
  }
}
