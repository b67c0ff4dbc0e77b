import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { issue } from '../certificates/issue.ts';
import { makeAuthority, makeLeaf } from '../certificates/sign.ts';
import { handshakeWith } from './handshake.ts';

const base64 = (pem: string) => Buffer.from(pem).toString('base64');
const validity = { notBefore: new Date(Date.now() - 60_000), notAfter: new Date(Date.now() + 3_600_000) };
let server: ReturnType<typeof createServer>;
let ca: string;
let at: { readonly host: string; readonly port: number };

beforeAll(async () => {
  const authority = await makeAuthority('authority', validity);
  const { certificate, key } = await makeLeaf(authority, { dns: ['gpugate.gpus.svc'] }, validity);
  ca = authority.certificate;
  server = createServer({ cert: certificate, key });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  at = { host: '127.0.0.1', port: (server.address() as AddressInfo).port };
});
afterAll(() => new Promise((resolve) => server.close(resolve)));

it('a leaf that the caBundle makes trusted, under the name that is called', async () => {
  const { leaf, problem } = await handshakeWith({ ...at, name: 'gpugate.gpus.svc', caBundle: base64(ca) });
  expect(problem).toBeUndefined();
  expect(Number(leaf?.notAfter)).toBe(Math.floor(Number(validity.notAfter) / 1000) * 1000);
});

it.each<[string, () => Promise<string>, string, RegExp]>([
  ['another authority', async () => (await issue(new Date())).ca, 'gpugate.gpus.svc', /verify|issuer|UNABLE/i],
  ['no caBundle', async () => '', 'gpugate.gpus.svc', /verify|issuer|self.signed|UNABLE/i],
  ['a caBundle that is no certificate', async () => 'nonsense', 'gpugate.gpus.svc', /./],
  ['another name', async () => ca, 'gpugate.other.svc', /name|altnames/i],
])('%s is told, and never thrown', async (_, bundle, name, text) => {
  const { problem } = await handshakeWith({ ...at, name, caBundle: base64(await bundle()) });
  expect(problem).toMatch(text);
});

it('nothing listens', async () => {
  const { leaf, problem } = await handshakeWith({
    host: '127.0.0.1',
    port: 2,
    name: '127.0.0.1',
    caBundle: base64(ca),
  });
  expect([leaf, problem]).toEqual([undefined, expect.stringContaining('ECONNREFUSED')]);
});
