import { X509Certificate } from 'node:crypto';

/** The certificates of a PEM text. Throws when one of them can't be read. */
export function readCertificates(text: string): X509Certificate[] {
  const blocks = text.match(/-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g) ?? [];
  return blocks.map((block) => new X509Certificate(block));
}

/** Whether a certificate was signed by the key of another. */
export function signedBy(certificate: X509Certificate, issuer: X509Certificate): boolean {
  return certificate.checkIssued(issuer) && certificate.verify(issuer.publicKey);
}

/** Whether two are the same certificate. */
export function same(a: X509Certificate | undefined, b: X509Certificate | undefined): boolean {
  return a !== undefined && b !== undefined && a.raw.equals(b.raw);
}
