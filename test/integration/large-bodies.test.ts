import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { connect, type TLSSocket } from 'node:tls';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { LARGE_AT_ONCE } from '../../src/server/body.ts';
import { type Server, startServer } from './server.ts';

const review = JSON.parse(readFileSync(new URL('../reviews/pod-create-whole.json', import.meta.url), 'utf8'));
const LARGE = { ...review, padding: 'x'.repeat(1_000_000) };

describe('while as many large bodies are being read as may be', () => {
  let server: Server;
  let stalled: TLSSocket[];
  beforeEach(async () => {
    server = await startServer();
    stalled = await Promise.all(Array.from({ length: LARGE_AT_ONCE }, () => stall(server)));
    // By then it has read what the others sent before.
    for (let sent = 0; sent < 5; sent += 1) await server.review('/mutate', review);
  });
  afterEach(async () => {
    for (const socket of stalled) socket.destroy();
    await server.stop();
  });

  const answered = (sent: Promise<{ status: number }>) =>
    Promise.race([sent.then(({ status }) => status), sleep(300).then(() => 'waits')]);

  it('a usual one is answered, a large one waits, and is answered once one of them ends', async () => {
    expect(await server.review('/mutate', review)).toMatchObject({ status: 200 });
    const large = server.review('/mutate', LARGE);
    expect(await answered(large)).toBe('waits');
    expect(await server.review('/mutate', review)).toMatchObject({ status: 200 });

    stalled[0]?.destroy();
    const { status, text } = await large;
    expect({ status, uid: JSON.parse(text).response.uid }).toEqual({ status: 200, uid: review.request.uid });
  });

  it('of those that wait each gets its turn, also after one that went away', async () => {
    const gone = await stall(server);
    const large = Array.from({ length: 3 * LARGE_AT_ONCE }, () => server.review('/validate', LARGE));
    expect(await answered(Promise.race(large))).toBe('waits');
    gone.destroy();
    for (const socket of stalled) socket.destroy();
    expect((await Promise.all(large)).map(({ status }) => status)).toEqual(large.map(() => 200));
    expect(await server.review('/mutate', LARGE)).toMatchObject({ status: 200 });
  });
});

/** A connection that has sent a part of a large body, and sends no more. */
async function stall({ port, issued }: Server): Promise<TLSSocket> {
  const socket = await new Promise<TLSSocket>((resolve, reject) => {
    const opened = connect({ host: '127.0.0.1', port, ca: issued.ca }, () => resolve(opened));
    opened.on('error', reject);
  });
  const head =
    'POST /mutate HTTP/1.1\r\nhost: gpugate\r\ncontent-type: application/json\r\ncontent-length: 1000000\r\n\r\n';
  await new Promise<void>((resolve) => socket.write(head + ' '.repeat(100_000), () => resolve()));
  return socket;
}
