import { connect, type TLSSocket } from 'node:tls';

/** One keep-alive connection that sends requests one after another, as the API server does. */
export interface Connection {
  /** Sends the request and resolves to the body of the answer, which must be a 200 with a content-length. */
  send(): Promise<Buffer>;
  close(): void;
}

const END_OF_HEAD = Buffer.from('\r\n\r\n');

/**
 * Opens a connection that sends always the same POST. Written on the bare socket, since a full HTTP client would take more
 * of its core than the server takes of the other one, and the server would wait for it.
 */
export function openConnection(port: number, ca: string, path: string, body: Buffer): Promise<Connection> {
  const head = `POST ${path} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n`;
  const request = Buffer.concat([Buffer.from(head), body]);
  return new Promise((resolve, reject) => {
    const socket: TLSSocket = connect({ host: '127.0.0.1', port, ca, servername: 'localhost' });
    socket.setNoDelay(true);
    let settle: { resolve(body: Buffer): void; reject(error: Error): void } = { resolve: () => {}, reject };
    let ended: Error | undefined;
    let received: Buffer = Buffer.alloc(0);
    const end = (error: Error) => {
      ended ??= error;
      settle.reject(ended);
    };
    socket.on('data', (chunk: Buffer) => {
      received = received.length === 0 ? chunk : Buffer.concat([received, chunk]);
      try {
        const answer = bodyOf(received);
        if (answer === undefined) return;
        received = Buffer.alloc(0);
        settle.resolve(answer);
      } catch (error) {
        end(error as Error);
      }
    });
    socket.on('error', end);
    socket.on('close', () => end(new Error('the server closed the connection')));
    socket.on('secureConnect', () => {
      resolve({
        send: () =>
          new Promise((resolve, reject) => {
            settle = { resolve, reject };
            if (ended) reject(ended);
            else socket.write(request);
          }),
        close: () => socket.destroy(),
      });
    });
  });
}

/** The body of an answer; undefined while a part of it is still to come. */
function bodyOf(received: Buffer): Buffer | undefined {
  const end = received.indexOf(END_OF_HEAD);
  if (end < 0) return undefined;
  const head = received.toString('latin1', 0, end);
  if (!head.startsWith('HTTP/1.1 200 ')) throw new Error(`answered ${head.slice(0, head.indexOf('\r\n'))}`);
  const length = Number(/\r\ncontent-length: (\d+)/i.exec(head)?.[1]);
  if (Number.isNaN(length)) throw new Error(`an answer without a content-length: ${head}`);
  const start = end + END_OF_HEAD.length;
  return received.length < start + length ? undefined : received.subarray(start, start + length);
}
