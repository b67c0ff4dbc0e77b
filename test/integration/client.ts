import type { IncomingHttpHeaders, OutgoingHttpHeaders } from 'node:http';
import { Agent, request } from 'node:https';

/** A reply as it came over the wire. */
export interface Reply {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

export interface Sent {
  readonly method?: string;
  readonly path?: string;
  readonly headers?: OutgoingHttpHeaders;
  /** Several parts go without a content-length, as chunks. */
  readonly body?: string | Buffer | readonly Buffer[];
  readonly agent?: Agent;
}

/** Sends requests to one server over real TLS, trusting only its CA. */
export function client(port: number, ca: string) {
  const shared = new Agent({ keepAlive: true, ca });
  const send = ({ method = 'POST', path = '/mutate', headers = {}, body, agent = shared }: Sent): Promise<Reply> =>
    new Promise((resolve, reject) => {
      const outgoing = request({ host: '127.0.0.1', port, method, path, headers, agent, ca }, (incoming) => {
        const parts: Buffer[] = [];
        incoming.on('data', (part: Buffer) => parts.push(part));
        incoming.on('error', reject);
        incoming.on('end', () =>
          resolve({
            status: incoming.statusCode ?? 0,
            headers: incoming.headers,
            text: Buffer.concat(parts).toString(),
          }),
        );
      });
      outgoing.on('error', reject);
      if (body === undefined || typeof body === 'string' || Buffer.isBuffer(body)) {
        outgoing.end(body);
        return;
      }
      for (const part of body) outgoing.write(part);
      outgoing.end();
    });
  return {
    send,
    /** Posts a review as the API server does. */
    review: (path: string, review: unknown) =>
      send({ path, headers: { 'content-type': 'application/json' }, body: JSON.stringify(review) }),
    close: () => shared.destroy(),
  };
}
