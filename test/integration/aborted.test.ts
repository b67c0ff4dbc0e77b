import { once } from 'node:events';
import { connect } from 'node:tls';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Server, startServer } from './server.ts';

let server: Server;
beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server.stop());

it('a sender that goes away in the middle of its body is no fault of ours', async () => {
  const socket = connect({ port: server.port, host: '127.0.0.1', rejectUnauthorized: false });
  await once(socket, 'secureConnect');
  const begun = once(server.app.fastify.server, 'request');
  socket.write(
    'POST /validate HTTP/1.1\r\nHost: gpugate\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n{',
  );
  const [request] = await begun;
  const over = new Promise((resolve) => request.on('close', resolve));
  socket.destroy();
  await over;
  await new Promise(setImmediate);
  const panics = await server.metrics.registry.getSingleMetricAsString('gpugate_panics_total');
  expect(panics).toContain('gpugate_panics_total 0');
  expect(server.lines.filter(({ level }) => level !== 'debug' && level !== 20)).toEqual([]);
});
