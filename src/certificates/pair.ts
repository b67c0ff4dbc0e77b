import { createPrivateKey, X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { readCertificates, same, signedBy } from './x509.ts';

/** A certificate with its key, checked: they parse and belong together. */
export interface Pair extends PairText {
  readonly leaf: X509Certificate;
  readonly notBefore: Date;
  readonly notAfter: Date;
  /** The CA that signed it; undefined where that is not known. */
  readonly authority?: X509Certificate | undefined;
}

/** The names that a mounted Secret of type kubernetes.io/tls gives its files. */
export const CERTIFICATE_FILE = 'tls.crt';
export const KEY_FILE = 'tls.key';
/** What cert-manager, and `gpugate` for development, write beside them: the CA that clients are told to trust. */
export const CA_FILE = 'ca.crt';

/** The files as they are, unchecked. */
export interface PairText {
  /** PEM, the leaf first, with what intermediates the file holds. */
  readonly certificate: string;
  /** PEM. */
  readonly key: string;
  /** PEM of CAs; undefined if there is no such file. Nothing is served of it: it tells when the CA ends. */
  readonly ca?: string | undefined;
}

/** Reads both files, and the CA if one lies beside them. Throws what the file system says of the two. */
export async function readPair(dir: string): Promise<PairText> {
  const certificate = await readFile(join(dir, CERTIFICATE_FILE), 'utf8');
  const key = await readFile(join(dir, KEY_FILE), 'utf8');
  const ca = await readFile(join(dir, CA_FILE), 'utf8').catch(() => undefined);
  return { certificate, key, ca };
}

/** Reads a pair, valid now or not. Throws an Error of one line that names the file and the fix. */
export function parsePair(dir: string, { certificate, key, ca }: PairText): Pair {
  const certificateFile = join(dir, CERTIFICATE_FILE);
  const keyFile = join(dir, KEY_FILE);
  const leaf = attempt(() => new X509Certificate(certificate));
  if (leaf === undefined)
    throw new Error(`${certificateFile}: not a PEM certificate; put the server certificate there`);
  // A file that is being written may end amid an intermediate: the leaf is whole then, and the chain is not.
  if (!isWhole(certificate))
    throw new Error(`${certificateFile}: a certificate of its chain is cut short; put the whole chain there`);
  const privateKey = attempt(() => createPrivateKey(key));
  if (privateKey === undefined)
    throw new Error(`${keyFile}: not a PEM private key without a passphrase; put the key of ${CERTIFICATE_FILE} there`);
  if (!leaf.checkPrivateKey(privateKey))
    throw new Error(`${keyFile}: not the key of ${CERTIFICATE_FILE}; put a matching pair there`);
  const { validFromDate: notBefore, validToDate: notAfter } = leaf;
  return { certificate, key, ca, leaf, notBefore, notAfter, authority: authorityIn(ca ?? '', certificate) };
}

/** Checks a pair, its dates as well. Throws an Error of one line that names the file and the fix. */
export function checkPair(dir: string, text: PairText, now = new Date()): Pair {
  const certificateFile = join(dir, CERTIFICATE_FILE);
  const pair = parsePair(dir, text);
  const { notBefore, notAfter } = pair;
  if (now >= notAfter) throw new Error(`${certificateFile}: expired at ${notAfter.toISOString()}; renew it`);
  if (now < notBefore)
    throw new Error(`${certificateFile}: not valid before ${notBefore.toISOString()}; check the clock, or renew it`);
  return pair;
}

/** Reads and checks the pair of a directory. Throws an Error of one line that names the file and the fix. */
export async function loadPair(dir: string): Promise<Pair> {
  return checkPair(dir, await readPair(dir));
}

/**
 * The CA among several that signed the chain; the one that ends last where a CA was renewed with its key. Undefined where none did,
 * or they can't be read, as amid a change.
 */
function authorityIn(cas: string, chain: string): X509Certificate | undefined {
  const links = readCertificates(chain);
  const signers = (attempt(() => readCertificates(cas)) ?? []).filter((ca) =>
    links.some((link) => !same(link, ca) && signedBy(link, ca)),
  );
  return signers.toSorted((a, b) => b.validToDate.getTime() - a.validToDate.getTime())[0];
}

function isWhole(chain: string): boolean {
  const blocks = chain.split('-----BEGIN CERTIFICATE-----').slice(1);
  return blocks.every(
    (block) => attempt(() => new X509Certificate(`-----BEGIN CERTIFICATE-----${block}`)) !== undefined,
  );
}

function attempt<T>(make: () => T): T | undefined {
  try {
    return make();
  } catch {
    return undefined;
  }
}
