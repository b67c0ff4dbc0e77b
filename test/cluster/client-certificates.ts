import 'reflect-metadata';
import type { webcrypto } from 'node:crypto';
import * as x509 from '@peculiar/x509';

/** A key with its certificate, both PEM. */
export interface Credential {
  readonly certificate: string;
  readonly key: string;
}

/** As a `Credential`, able to sign. */
export interface ClientAuthority extends Credential {
  readonly signer: { readonly keys: webcrypto.CryptoKeyPair; readonly name: string };
}

const ECDSA = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' } as const;
const HOUR = 3_600_000;

/** Makes a CA of its own. */
export async function clientAuthority(): Promise<ClientAuthority> {
  const keys = await keyPair();
  const name = 'CN=clients';
  const certificate = await x509.X509CertificateGenerator.createSelfSigned({
    name,
    keys,
    signingAlgorithm: ECDSA,
    ...validity(),
    extensions: [
      new x509.BasicConstraintsExtension(true, undefined, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign | x509.KeyUsageFlags.cRLSign, true),
    ],
  });
  return { certificate: certificate.toString('pem'), key: await pem(keys.privateKey), signer: { keys, name } };
}

/** Makes a client certificate with these common names, as an API server has one. */
export async function clientCertificate({ signer }: ClientAuthority, names: readonly string[]): Promise<Credential> {
  const keys = await keyPair();
  const certificate = await x509.X509CertificateGenerator.create({
    subject: names.map((name) => `CN=${name}`).join(', '),
    issuer: signer.name,
    publicKey: keys.publicKey,
    signingKey: signer.keys.privateKey,
    signingAlgorithm: ECDSA,
    ...validity(),
    extensions: [
      new x509.BasicConstraintsExtension(false, undefined, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true),
      new x509.ExtendedKeyUsageExtension([x509.ExtendedKeyUsage.clientAuth]),
    ],
  });
  return { certificate: certificate.toString('pem'), key: await pem(keys.privateKey) };
}

function validity() {
  const now = Date.now();
  return { notBefore: new Date(now - HOUR), notAfter: new Date(now + 24 * HOUR) };
}

function keyPair(): Promise<webcrypto.CryptoKeyPair> {
  return crypto.subtle.generateKey(ECDSA, true, ['sign', 'verify']);
}

async function pem(key: webcrypto.CryptoKey): Promise<string> {
  const der = Buffer.from(await crypto.subtle.exportKey('pkcs8', key));
  return `-----BEGIN PRIVATE KEY-----\n${der.toString('base64').replace(/.{64}(?=.)/g, '$&\n')}\n-----END PRIVATE KEY-----\n`;
}
