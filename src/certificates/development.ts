import { X509Certificate } from 'node:crypto';
import { mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { readIfThere } from '../files/read.ts';
import { CA_NAME, DEVELOPMENT_NAMES, issue } from './issue.ts';
import { CA_FILE, CERTIFICATE_FILE, checkPair, KEY_FILE } from './pair.ts';

/** What was done about development certificates: `made` at a first start, `renewed` with the reason, or nothing. */
export type Development =
  | { readonly done: 'made' }
  | { readonly done: 'renewed'; readonly why: string }
  | { readonly done: 'kept' };

/**
 * Puts development certificates into an empty directory, and renews those that an earlier start put there when they
 * no longer serve. Certificates that gpugate did not make are never touched. Throws an Error of one line where only
 * half a pair of unknown origin lies there.
 */
export async function developmentCertificates(dir: string, now = new Date()): Promise<Development> {
  const [certificate, key, ca] = await Promise.all(
    [CERTIFICATE_FILE, KEY_FILE, CA_FILE].map((file) => readIfThere(join(dir, file))),
  );
  if (certificate === undefined) {
    if (key !== undefined) {
      throw new Error(
        `${join(dir, KEY_FILE)}: a key without ${CERTIFICATE_FILE}; add its certificate, or remove it to get development certificates`,
      );
    }
    if (ca !== undefined && !isOurCa(ca)) {
      throw new Error(
        `${join(dir, CA_FILE)}: a CA without ${CERTIFICATE_FILE}; add the server's pair, or remove it to get development certificates`,
      );
    }
    await write(dir, now);
    return { done: 'made' };
  }
  if (!isOurs(certificate)) return { done: 'kept' };
  const why = fault(dir, { certificate, key, ca }, now);
  if (why === undefined) return { done: 'kept' };
  await write(dir, now);
  return { done: 'renewed', why };
}

interface Files {
  readonly certificate: string;
  readonly key: string | undefined;
  readonly ca: string | undefined;
}

/** Why our own certificates should be made anew, if they should. */
function fault(dir: string, { certificate, key, ca }: Files, now: Date): string | undefined {
  if (key === undefined) return `${KEY_FILE} is missing`;
  if (ca === undefined) return `${CA_FILE} is missing`;
  try {
    const { leaf, notBefore, notAfter } = checkPair(dir, { certificate, key }, now);
    if (!isOurCa(ca) || !leaf.verify(new X509Certificate(ca).publicKey))
      return `${CA_FILE} is not the CA of ${CERTIFICATE_FILE}`;
    const names = leaf.subjectAltName ?? '';
    const missing = DEVELOPMENT_NAMES.dns.find((name) => !names.split(', ').includes(`DNS:${name}`));
    if (missing !== undefined) return `the name ${missing} is missing`;
    // Two thirds of its life, as for certificates in a cluster.
    const due = notBefore.getTime() + ((notAfter.getTime() - notBefore.getTime()) * 2) / 3;
    return now.getTime() < due ? undefined : `it expires at ${notAfter.toISOString()}`;
  } catch (error) {
    return (error as Error).message;
  }
}

function isOurs(certificate: string): boolean {
  try {
    return new X509Certificate(certificate).issuer === `CN=${CA_NAME}`;
  } catch {
    return false;
  }
}

function isOurCa(ca: string): boolean {
  try {
    return new X509Certificate(ca).subject === `CN=${CA_NAME}`;
  } catch {
    return false;
  }
}

/**
 * The leaf goes first: whatever moment this is cut short at, what lies there is known as ours and is made anew.
 * The CA's key is not kept: who has it could pose as any server to those that trust the CA.
 */
async function write(dir: string, now: Date): Promise<void> {
  const issued = await issue(now);
  await mkdir(dir, { recursive: true });
  await replace(join(dir, CERTIFICATE_FILE), issued.certificate, 0o644);
  await replace(join(dir, KEY_FILE), issued.key, 0o600);
  await replace(join(dir, CA_FILE), issued.ca, 0o644);
}

async function replace(file: string, text: string, mode: number): Promise<void> {
  const written = `${file}.${process.pid}`;
  try {
    await writeFile(written, text, { mode });
    await rename(written, file);
  } catch (error) {
    await rm(written, { force: true });
    throw error;
  }
}
