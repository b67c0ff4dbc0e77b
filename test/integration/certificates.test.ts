import { createPrivateKey, X509Certificate } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { developmentCertificates } from '../../src/certificates/development.ts';
import { issue } from '../../src/certificates/issue.ts';
import { loadPair } from '../../src/certificates/pair.ts';
import { makeAuthority } from '../../src/certificates/sign.ts';

const DAY = 24 * 60 * 60 * 1000;

let dir: string;
beforeEach(async () => {
  dir = join(await mkdtemp(join(tmpdir(), 'gpugate-')), 'certs');
});
afterEach(() => rm(join(dir, '..'), { recursive: true }));

const text = (file: string) => readFile(join(dir, file), 'utf8');
const put = (file: string, content: string) => writeFile(join(dir, file), content);
const all = async () =>
  Object.fromEntries(await Promise.all((await readdir(dir)).map(async (file) => [file, await text(file)])));

describe('development certificates', () => {
  it('are made where none exist: a leaf of EC P-256 for this machine and the Service, under a CA of its own', async () => {
    expect(await developmentCertificates(dir)).toEqual({ done: 'made' });
    expect((await readdir(dir)).sort()).toEqual(['ca.crt', 'tls.crt', 'tls.key']);
    const { leaf } = await loadPair(dir);
    const ca = new X509Certificate(await text('ca.crt'));
    expect(leaf.publicKey.asymmetricKeyDetails).toEqual({ namedCurve: 'prime256v1' });
    expect([leaf.signatureAlgorithm, ca.signatureAlgorithm]).toEqual(['ecdsa-with-SHA256', 'ecdsa-with-SHA256']);
    expect([leaf.ca, ca.ca]).toEqual([false, true]);
    expect(leaf.keyUsage).toEqual(['1.3.6.1.5.5.7.3.1']);
    expect(leaf.verify(ca.publicKey)).toBe(true);
    expect(leaf.serialNumber).not.toBe(ca.serialNumber);
    for (const name of ['localhost', 'gpugate', 'gpugate.gpugate', 'gpugate.gpugate.svc', 'host.docker.internal']) {
      expect(leaf.checkHost(name), name).toBe(name);
    }
    for (const ip of ['127.0.0.1', '::1']) expect(leaf.checkIP(ip), ip).toBe(ip);
    expect(leaf.validFromDate.getTime()).toBeLessThan(Date.now() - 30 * 60 * 1000);
    expect((await stat(join(dir, 'tls.key'))).mode & 0o777).toBe(0o600);
  });

  it('are left alone while they serve', async () => {
    await developmentCertificates(dir);
    const before = await all();
    expect(await developmentCertificates(dir)).toEqual({ done: 'kept' });
    expect(await all()).toEqual(before);
  });

  it.each([
    [
      'are past two thirds of their life',
      'it expires at',
      () => developmentCertificates(dir, new Date(Date.now() - 250 * DAY)),
    ],
    ['have expired', 'expired at', () => developmentCertificates(dir, new Date(Date.now() - 400 * DAY))],
    ['lost their key', 'tls.key is missing', () => rm(join(dir, 'tls.key'))],
    ['lost their CA', 'ca.crt is missing', () => rm(join(dir, 'ca.crt'))],
    ['have the key of another', 'not the key', async () => put('tls.key', (await issue(new Date())).key)],
    ['have the CA of another', 'not the CA', async () => put('ca.crt', (await issue(new Date())).ca)],
  ])('are renewed when they %s', async (_, why, spoil) => {
    await rm(dir, { recursive: true, force: true });
    if (!/life|expired/.test(_)) await developmentCertificates(dir);
    await spoil();
    expect(await developmentCertificates(dir)).toEqual({ done: 'renewed', why: expect.stringContaining(why) });
    const ca = new X509Certificate(await text('ca.crt'));
    expect((await loadPair(dir)).leaf.verify(ca.publicKey)).toBe(true);
  });

  it('never replace certificates of another maker, expired or not', async () => {
    await developmentCertificates(dir);
    const foreign = await makeAuthority('someone', {
      notBefore: new Date(Date.now() - 2 * DAY),
      notAfter: new Date(Date.now() - DAY),
    });
    await put('tls.crt', foreign.certificate);
    await put('tls.key', foreign.key);
    const before = await all();
    expect(await developmentCertificates(dir)).toEqual({ done: 'kept' });
    expect(await all()).toEqual(before);
    await expect(loadPair(dir)).rejects.toThrow(/tls\.crt: expired at .*; renew it$/);
  });

  it('stay as they are when the disk is full, and nothing is left lying about', async () => {
    await developmentCertificates(dir, new Date(Date.now() - 300 * DAY));
    const before = await all();
    // What is written goes through this name first.
    await symlink('/dev/full', join(dir, `tls.crt.${process.pid}`));
    await expect(developmentCertificates(dir)).rejects.toThrow('ENOSPC');
    expect(await all()).toEqual(before);
  });

  it('are not made beside a key without a certificate', async () => {
    await developmentCertificates(dir);
    await rm(join(dir, 'tls.crt'));
    const before = await all();
    await expect(developmentCertificates(dir)).rejects.toThrow(
      /tls\.key: a key without tls\.crt; add its certificate, or remove it/,
    );
    expect(await all()).toEqual(before);
    expect(() => createPrivateKey(before['tls.key'] ?? '')).not.toThrow();
  });
});
