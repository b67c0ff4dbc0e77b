import { readFileSync } from 'node:fs';
import { Agent } from 'node:https';
import { connect as connectPlain } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { connect, type TLSSocket } from 'node:tls';
import { afterEach, describe, expect, it } from 'vitest';
import { close } from '../../src/server/listen.ts';
import { client } from './client.ts';
import { node, serve } from './gpugate.ts';
import { startServer } from './server.ts';

const REVIEW = readFileSync(new URL('../reviews/pod-create-fraction.json', import.meta.url), 'utf8');
const UID = JSON.parse(REVIEW).request.uid;

let served: Awaited<ReturnType<typeof serve>>;
afterEach(() => served?.remove());

const ready = async () => (await fetch(`http://127.0.0.1:${served.metricsPort}/readyz`)).status;

/** Polls until a state is reached; the test's own timeout is the only limit. */
async function until(reached: () => Promise<boolean>): Promise<void> {
  while (!(await reached())) await sleep(20);
}

/** Whether the port takes connections at all. */
function accepts(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connectPlain(port, '127.0.0.1');
    socket.on('connect', () => resolve(true)).on('error', () => resolve(false));
    socket.on('connect', () => socket.destroy());
  });
}

/** A review of which only a part has been sent. */
async function halfSent({ port, ca }: { port: number; ca: string }): Promise<{ finish(): Promise<string> }> {
  const socket = await new Promise<TLSSocket>((resolve, reject) => {
    const opened = connect({ host: '127.0.0.1', port, ca }, () => resolve(opened));
    opened.on('error', reject);
  });
  const head = `POST /mutate HTTP/1.1\r\nhost: gpugate\r\ncontent-type: application/json\r\ncontent-length: ${Buffer.byteLength(REVIEW)}\r\n\r\n`;
  await new Promise<void>((resolve) => socket.write(head + REVIEW.slice(0, 100), () => resolve()));
  return {
    finish: () =>
      new Promise((resolve, reject) => {
        let text = '';
        socket.on('data', (part: Buffer) => {
          text += part;
        });
        socket.on('end', () => resolve(text)).on('error', reject);
        socket.write(REVIEW.slice(100));
      }),
  };
}

describe('SIGTERM', () => {
  it('makes it unready, while every request is still answered and asked to connect elsewhere; then it exits 0', async () => {
    served = await serve(['--shutdown-delay', '4s']);
    const requests = client(served.port, served.ca);
    const { send } = requests;
    const answers: boolean[] = [];
    // A connection keeps asking until it is told to close, as the API server's pool does.
    const connection = async () => {
      const agent = new Agent({ keepAlive: true, maxSockets: 1, ca: served.ca });
      for (;;) {
        const { status, headers, text } = await send({
          headers: { 'content-type': 'application/json' },
          body: REVIEW,
          agent,
        });
        answers.push(status === 200 && JSON.parse(text).response.uid === UID);
        if (headers.connection === 'close') return;
      }
    };
    const connections = Array.from({ length: 8 }, connection);
    const half = await halfSent(served);
    await until(async () => answers.length > 50);
    expect(await ready()).toBe(200);

    served.signal('SIGTERM');
    await until(async () => (await ready()) === 503);
    await Promise.all(connections);
    expect(answers.every((good) => good)).toBe(true);
    expect((await send({ method: 'GET', path: '/livez' })).status).toBe(200);
    const late = await half.finish();
    expect(late).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
    expect(late).toMatch(/\r\nconnection: close\r\n/i);
    requests.close();
    const { code, stdout } = await served.ended;
    expect(code).toBe(0);
    expect(stdout.trimEnd().split('\n').at(-1)).toContain('"msg":"shut down"');
  });

  it('lets a request that is half sent end after the port was closed', async () => {
    served = await serve(['--shutdown-delay', '0']);
    const half = await halfSent(served);
    served.signal('SIGTERM');
    await until(async () => !(await accepts(served.port)));
    const answer = await half.finish();
    expect(answer).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
    expect(answer).toContain(UID);
    expect((await served.ended).code).toBe(0);
  });

  it('ends it at once when it comes twice', async () => {
    served = await serve(['--shutdown-delay', '300s']);
    served.signal('SIGTERM');
    await until(async () => (await ready()) === 503);
    served.signal('SIGTERM');
    expect((await served.ended).code).toBe(143);
  });
});

describe('SIGINT', () => {
  it('ends it in order too', async () => {
    served = await serve(['--shutdown-delay', '0']);
    served.signal('SIGINT');
    expect((await served.ended).code).toBe(0);
  });
});

describe('a request that never ends', () => {
  it('is cut when the time for closing is over', async () => {
    const server = await startServer();
    await halfSent({ port: server.port, ca: server.issued.ca });
    const hurry = new AbortController();
    const closed = close(server.app.fastify, hurry.signal);
    await until(async () => !(await accepts(server.port)));
    hurry.abort();
    await closed;
    await server.stop();
  });
});

describe('an error that nothing caught', () => {
  it.each([
    ['unhandledRejection', "Promise.reject(new Error('lost'))"],
    ['uncaughtException', "setTimeout(() => { throw new Error('lost') })"],
  ])('(%s) is logged, makes it unready and exits 1', async (event, crash) => {
    const source = (path: string) => JSON.stringify(new URL(`../../src/server/${path}`, import.meta.url));
    const script = `
      const { createLog } = await import(${source('log.ts')});
      const { handleCrashes } = await import(${source('shutdown.ts')});
      const log = createLog('info');
      const lifecycle = { draining: false, failure: undefined };
      const exit = (code) => log.flush().then(() => { console.error(lifecycle.failure); process.exit(code); });
      handleCrashes({ lifecycle, logger: log.logger, exit });
      ${crash};
      setInterval(() => {}, 1000);`;
    const { code, stdout, stderr } = await node(['--input-type=module', '--eval', script]);
    expect({ code, stderr }).toEqual({ code: 1, stderr: `crashed: ${event}\n` });
    expect(JSON.parse(stdout)).toMatchObject({ level: 'fatal', msg: event, err: { message: 'lost' } });
  });
});
