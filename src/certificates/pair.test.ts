import { createPublicKey } from 'node:crypto';
import { generate, type SelfsignedOptions } from 'selfsigned';
import { expect, it } from 'vitest';
import { parsePair } from './pair.ts';
import { makeAuthority, makeLeaf, type Signed } from './sign.ts';
import { inDays } from './testing.ts';

/** A CA as others make them: under another one, or with the key of one before. */
async function ca(name: string, days: number, more: SelfsignedOptions = {}): Promise<Signed> {
  const { cert, private: key } = await generate([{ name: 'commonName', value: name }], {
    algorithm: 'sha256',
    keyType: 'ec',
    curve: 'P-256',
    notBeforeDate: inDays(-1),
    notAfterDate: inDays(days),
    extensions: [
      { name: 'basicConstraints', cA: true, critical: true },
      { name: 'keyUsage', keyCertSign: true, critical: true },
    ],
    ...more,
  });
  return { certificate: `${cert.trimEnd()}\n`, key: `${key.trimEnd()}\n` };
}

const under = (signed: Signed) =>
  makeLeaf(signed, { dns: ['gpugate.gpugate.svc'] }, { notBefore: inDays(-1), notAfter: inDays(90) });
const endOf = (pair: Signed & { readonly ca?: string }) => parsePair('', pair).authority?.validToDate;

it('the CA of a pair is the one beside it that signed it, or signed an intermediate of its chain', async () => {
  const root = await ca('root', 3000);
  const intermediate = await ca('intermediate', 1000, { ca: { key: root.key, cert: root.certificate } });
  const leaf = await under(intermediate);
  const chain = { ...leaf, certificate: leaf.certificate + intermediate.certificate };
  expect(endOf({ ...chain, ca: root.certificate })).toEqual(inDays(3000));
  expect(endOf({ ...leaf, ca: intermediate.certificate })).toEqual(inDays(1000));
  expect(endOf({ ...leaf, ca: root.certificate })).toBeUndefined();
});

it('of a CA that was renewed with its key the certificate that ends last counts, in whatever order they stand', async () => {
  const old = await ca('CA', 10);
  const publicKey = String(createPublicKey(old.key).export({ type: 'spki', format: 'pem' }));
  const renewed = await ca('CA', 500, { keyPair: { publicKey, privateKey: old.key } });
  const leaf = await under(old);
  expect(endOf({ ...leaf, ca: old.certificate + renewed.certificate })).toEqual(inDays(500));
  expect(endOf({ ...leaf, ca: renewed.certificate + old.certificate })).toEqual(inDays(500));
});

it('a certificate that signed itself, and a CA of the same name that signed another one, are none', async () => {
  const itself = await ca('gpugate', 90);
  expect(endOf({ ...itself, ca: itself.certificate })).toBeUndefined();
  const validity = { notBefore: inDays(-1), notAfter: inDays(90) };
  const [one, other] = await Promise.all([makeAuthority('CA', validity), makeAuthority('CA', validity)]);
  expect(endOf({ ...(await under(one)), ca: other.certificate })).toBeUndefined();
  expect(endOf(await under(one))).toBeUndefined();
});
