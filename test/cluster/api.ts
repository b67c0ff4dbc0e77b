import { readFileSync } from 'node:fs';
import { Agent, request } from 'node:https';
import { text } from 'node:stream/consumers';
import type { ControlPlane } from './controlplane.ts';

export interface ApiAnswer {
  readonly code: number;
  // biome-ignore lint/suspicious/noExplicitAny: objects of every kind, read where a test knows the kind.
  readonly body: any;
  readonly warnings: readonly string[];
}

/** Calls the API server without kubectl: quick enough for hundreds of requests, and no client-side check in between. */
export type Api = (method: string, path: string, body?: unknown, contentType?: string) => Promise<ApiAnswer>;

export function apiOf(
  { server, token, caFile }: Pick<ControlPlane, 'server' | 'token' | 'caFile'>,
  maxSockets = 16,
): Api {
  const agent = new Agent({ keepAlive: true, ca: readFileSync(caFile), maxSockets });
  return (method, path, body, contentType = 'application/json') =>
    new Promise((resolve, reject) => {
      const content = body === undefined ? '' : typeof body === 'string' ? body : JSON.stringify(body);
      const headers = {
        authorization: `Bearer ${token}`,
        accept: 'application/json',
        'content-type': contentType,
        // Node frames the body of a DELETE only when its length is given.
        'content-length': Buffer.byteLength(content),
      };
      const call = request(server + path, { method, agent, headers }, async (response) => {
        const answer = await text(response);
        const warnings = [response.headers.warning ?? []].flat().flatMap(warningTexts);
        const json = response.headers['content-type']?.startsWith('application/json');
        resolve({ code: response.statusCode ?? 0, body: json ? JSON.parse(answer) : answer, warnings });
      });
      call.once('error', reject);
      call.end(content);
    });
}

/** The texts of a Warning header: `299 - "text"`, several parted by commas. */
function warningTexts(header: string): readonly string[] {
  return [...header.matchAll(/299 - "((?:[^"\\]|\\.)*)"/g)].map(([, quoted = '']) => quoted.replace(/\\(.)/g, '$1'));
}
