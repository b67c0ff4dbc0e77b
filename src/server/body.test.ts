import { PassThrough } from 'node:stream';
import { expect, it } from 'vitest';
import { bodyReader, LARGE_AT_ONCE } from './body.ts';

const KIB = 1024;

it('a large body is read although as many others as may be under way never end', async () => {
  const read = bodyReader();
  const slow = Array.from({ length: LARGE_AT_ONCE }, () => new PassThrough());
  const stalled = slow.map((stream) => read(stream).then(() => 'read', String));
  for (const stream of slow) stream.write(Buffer.alloc(70 * KIB));
  const large = new PassThrough();
  const body = read(large);
  large.end(Buffer.alloc(200 * KIB));
  expect((await body).bytes.length).toBe(200 * KIB);
  expect(await Promise.race(stalled)).toContain('took too long while others waited');
  for (const stream of slow) stream.destroy();
  expect(await Promise.all(stalled)).not.toContain('read');
});

it('a slow one is read to its end where nobody waits', async () => {
  const read = bodyReader();
  const slow = new PassThrough();
  const body = read(slow);
  slow.write(Buffer.alloc(70 * KIB));
  await new Promise((resolve) => setTimeout(resolve, 1500));
  slow.end(Buffer.alloc(KIB));
  expect((await body).bytes.length).toBe(71 * KIB);
});
