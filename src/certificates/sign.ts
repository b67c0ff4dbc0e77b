import { createPrivateKey, type webcrypto } from 'node:crypto';

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

/** The curves of ECDSA by the name that OpenSSL gives them. */
const CURVES: Readonly<Record<string, string>> = { prime256v1: 'P-256', secp384r1: 'P-384', secp521r1: 'P-521' };

const P256 = { name: 'ECDSA', namedCurve: 'P-256' } as const;
const SHA256 = { name: 'ECDSA', hash: 'SHA-256' } as const;

/** Makes a CA that signs servers' certificates and no further CA: EC P-256, SHA-256. */
export async function makeAuthority(name: string, validity: Validity): Promise<Signed> {
  const x509 = await load();
  const keys = await keyPair();
  const certificate = await x509.X509CertificateGenerator.createSelfSigned({
    name: `CN=${name}`,
    keys,
    signingAlgorithm: SHA256,
    ...validity,
    extensions: [
      new x509.BasicConstraintsExtension(true, 0, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign | x509.KeyUsageFlags.cRLSign, true),
      await x509.SubjectKeyIdentifierExtension.create(keys.publicKey),
    ],
  });
  return { certificate: line(certificate.toString('pem')), key: await pem(keys.privateKey) };
}

/** Makes a server's certificate under a CA. Throws when the CA's key is not one of ECDSA. */
export async function makeLeaf(authority: Signed, names: Names, validity: Validity): Promise<Signed> {
  const x509 = await load();
  const keys = await keyPair();
  const issuer = new x509.X509Certificate(authority.certificate);
  // As the CA names its own key: several CAs of one name are told apart by it while they overlap.
  const keyId = issuer.getExtension(x509.SubjectKeyIdentifierExtension)?.keyId;
  const { dns, ip = [] } = names;
  const certificate = await x509.X509CertificateGenerator.create({
    subject: 'CN=gpugate',
    issuer: issuer.subjectName,
    publicKey: keys.publicKey,
    signingKey: signingKey(authority.key),
    signingAlgorithm: SHA256,
    ...validity,
    extensions: [
      new x509.BasicConstraintsExtension(false, undefined, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true),
      new x509.ExtendedKeyUsageExtension([x509.ExtendedKeyUsage.serverAuth]),
      new x509.SubjectAlternativeNameExtension([
        ...dns.map((value) => ({ type: 'dns', value }) as const),
        ...ip.map((value) => ({ type: 'ip', value }) as const),
      ]),
      await x509.SubjectKeyIdentifierExtension.create(keys.publicKey),
      keyId === undefined
        ? await x509.AuthorityKeyIdentifierExtension.create(issuer.publicKey)
        : new x509.AuthorityKeyIdentifierExtension(keyId),
    ],
  });
  return { certificate: line(certificate.toString('pem')), key: await pem(keys.privateKey) };
}

/** Slow to load, and needed only when a certificate is made. It asks for the polyfill to be there first. */
async function load() {
  await import('reflect-metadata');
  return import('@peculiar/x509');
}

function keyPair(): Promise<webcrypto.CryptoKeyPair> {
  return crypto.subtle.generateKey(P256, true, ['sign', 'verify']);
}

function signingKey(key: string): webcrypto.CryptoKey {
  const parsed = createPrivateKey(key);
  const namedCurve = CURVES[parsed.asymmetricKeyDetails?.namedCurve ?? ''];
  if (namedCurve === undefined) throw new Error('the key of the CA is not one of ECDSA');
  return parsed.toCryptoKey({ name: 'ECDSA', namedCurve }, false, ['sign']);
}

async function pem(key: webcrypto.CryptoKey): Promise<string> {
  const der = Buffer.from(await crypto.subtle.exportKey('pkcs8', key));
  return createPrivateKey({ key: der, format: 'der', type: 'pkcs8' })
    .export({ type: 'pkcs8', format: 'pem' })
    .toString();
}

function line(text: string): string {
  return `${text.trimEnd()}\n`;
}
