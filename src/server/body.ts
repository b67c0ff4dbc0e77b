import type { Readable } from 'node:stream';
import { turnsOf } from './turns.ts';

/**
 * An UPDATE carries object and oldObject, each up to the 3 MiB that the API server lets a client send
 * (kube-apiserver, MaxRequestBodyBytes), and the envelope: 2 x 3 MiB + 1 MiB, rounded up.
 */
export const BODY_LIMIT = 8 * 1024 * 1024;

// A sender that is cut off while writing often loses our answer to a connection reset, so what is over the limit is
// read and dropped, up to here, and only then answered.
const DROP_LIMIT = 4 * BODY_LIMIT;

/** Enough of the start to find the envelope of a body that can't be parsed. */
const HEAD = 4096;

/** A body as read: whole, or only its start when it was over the limit. */
export interface Body {
  readonly bytes: Buffer;
  readonly tooLarge: boolean;
}

/** Larger than nearly every pod. */
const LARGE = 64 * 1024;

/** A large body that takes longer gives way once others wait: eight slow senders would keep them out for good. */
const TURN_MS = 1000;

/** Large bodies that are read at a time: the rest waits in its sockets, so that a crowd of them does not fill the memory. */
export const LARGE_AT_ONCE = 8;

/** Reads bodies of any length, and any number of them, into bounded memory. Rejects only if the sender goes away. */
export function bodyReader(): (stream: Readable) => Promise<Body> {
  const turns = turnsOf(LARGE_AT_ONCE);
  return (stream) =>
    new Promise((resolve, reject) => {
      let chunks: Buffer[] = [];
      let length = 0;
      let hasTurn = false;
      let patience: NodeJS.Timeout | undefined;
      // Listeners stay on a stream that is read to its end anyway: taking four away costs more than asking this.
      let done = false;

      const end = () => {
        done = true;
        clearInterval(patience);
        if (hasTurn) turns.giveBack();
      };
      const finish = () => {
        if (done) return;
        end();
        const [only] = chunks;
        resolve({
          bytes: only !== undefined && chunks.length === 1 ? only : Buffer.concat(chunks),
          tooLarge: length > BODY_LIMIT,
        });
      };
      const fail = (error: Error) => {
        if (done) return;
        end();
        reject(error);
      };
      const takeTurn = async () => {
        const later = turns.take();
        if (later) {
          stream.pause();
          await later;
          stream.resume();
        }
        if (done) return turns.giveBack();
        hasTurn = true;
        patience = setInterval(() => {
          if (turns.wanted()) stream.destroy(new Error('a large body took too long while others waited'));
        }, TURN_MS);
      };
      stream.on('data', (chunk: Buffer) => {
        if (done) return;
        const before = length;
        length += chunk.length;
        if (length <= BODY_LIMIT) chunks.push(chunk);
        else if (before <= BODY_LIMIT) chunks = [Buffer.concat([...chunks, chunk]).subarray(0, HEAD)];
        if (length > DROP_LIMIT) finish();
        else if (before <= LARGE && length > LARGE) takeTurn();
      });
      stream.on('end', finish);
      stream.on('error', fail);
      stream.on('close', () => {
        if (!done) fail(new Error('the sender closed the connection before the end of the body'));
      });
    });
}

/** What the start of a review says about itself, without parsing it. */
export interface Head {
  readonly apiVersion: string | undefined;
  readonly uid: string;
}

/**
 * Finds version and uid in a body that is cut short or isn't JSON. kube-apiserver writes `kind`, `apiVersion` and
 * then `request`, whose first field is `uid` (k8s.io/api/admission/v1/types.go), so both stand at the start. Without
 * the uid the API server drops our answer, and under `failurePolicy: Ignore` admits the object unchecked.
 */
export function readHead(bytes: Buffer): Head {
  const text = bytes.toString('utf8', 0, HEAD);
  return {
    apiVersion: /"apiVersion"\s*:\s*"(admission\.k8s\.io\/v1(?:beta1)?)"/.exec(text)?.[1],
    uid: /"request"\s*:\s*\{\s*"uid"\s*:\s*"([^"\\]{1,128})"/.exec(text)?.[1] ?? '',
  };
}
