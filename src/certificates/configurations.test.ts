import jsonPatch, { type Operation } from 'fast-json-patch';
import { beforeAll, describe, expect, it } from 'vitest';
import { createTrust, isInStep, patchFor, viewOf } from './configurations.ts';
import { type Authority, bundleText } from './content.ts';
import { authority } from './testing.ts';

let one: Authority;
let two: Authority;
beforeAll(async () => {
  [one, two] = await Promise.all([authority(-1, 10), authority(-1, 10)]);
});

const BUNDLE = 'a bundle\n';
const base64 = (text: string) => Buffer.from(text).toString('base64');
const webhook = (name: string, caBundle?: string) => ({
  name,
  clientConfig: { service: { name: 'gpugate' }, ...(caBundle === undefined ? {} : { caBundle: base64(caBundle) }) },
});
const configuration = (resourceVersion: string, ...webhooks: object[]) => ({ metadata: { resourceVersion }, webhooks });
const apply = (object: object, operations: ReturnType<typeof patchFor>) =>
  jsonPatch.applyPatch(structuredClone(object), operations as Operation[], true).newDocument;

describe('a patch of caBundle', () => {
  it('sets it where it is missing or another one, and nothing else', () => {
    const before = configuration('7', webhook('a'), webhook('b', 'another'), webhook('c', BUNDLE));
    const operations = patchFor(viewOf(before), BUNDLE);
    expect(operations.map(({ path }) => path)).toEqual([
      '/metadata/resourceVersion',
      '/webhooks/0/clientConfig/caBundle',
      '/webhooks/1/clientConfig/caBundle',
    ]);
    const after = apply(before, operations);
    expect(after).toEqual(configuration('7', webhook('a', BUNDLE), webhook('b', BUNDLE), webhook('c', BUNDLE)));
    expect(isInStep(viewOf(after), BUNDLE)).toBe(true);
  });

  it('is refused when the list of webhooks has changed since', () => {
    const operations = patchFor(viewOf(configuration('7', webhook('a'), webhook('b'))), BUNDLE);
    expect(() => apply(configuration('8', webhook('new'), webhook('a'), webhook('b')), operations)).toThrow('Test');
  });

  it('is refused when another replica has published since', () => {
    const operations = patchFor(viewOf(configuration('7', webhook('a', 'old'))), 'older');
    expect(() => apply(configuration('8', webhook('a', 'newer')), operations)).toThrow('Test');
  });
});

describe('trust in a CA', () => {
  const view = (...bundles: string[]) => ({ resourceVersion: '1', bundles });
  const text = (...of: Authority[]) => bundleText(of.map(({ x509 }) => x509));

  it('is counted from when every webhook of every configuration has it', () => {
    let now = 1000;
    const trust = createTrust(() => now);
    trust.see([view(text(one)), view(text(one), text(one, two))]);
    now = 5000;
    trust.see([view(text(one, two)), view(text(two, one), text(one, two))]);
    now = 6000;
    expect([trust.forMs(one.x509), trust.forMs(two.x509)]).toEqual([5000, 1000]);
  });

  it.each<[string, () => Parameters<ReturnType<typeof createTrust>['see']>[0]]>([
    ['a webhook lost it', () => [view(text(one)), view('')]],
    [
      'a bundle holds nonsense',
      () => [view(text(one)), view('-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----')],
    ],
    ['the configurations are not known', () => undefined],
  ])('is gone when %s, and begins afresh', (_, seen) => {
    let now = 0;
    const trust = createTrust(() => now);
    trust.see([view(text(one))]);
    now = 5000;
    trust.see(seen());
    expect(trust.forMs(one.x509)).toBeUndefined();
    trust.see([view(text(one))]);
    expect(trust.forMs(one.x509)).toBe(0);
  });

  it('is as good as settled where no webhook calls us', () => {
    const trust = createTrust();
    trust.see([]);
    expect(trust.forMs(one.x509)).toBe(Number.POSITIVE_INFINITY);
  });
});
