import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Judge } from '../../src/server/judge.ts';
import type { Sent } from './client.ts';
import type { Server } from './server.ts';
import { allowAll, startServer } from './server.ts';

const MIB = 1024 * 1024;
const V1 = 'admission.k8s.io/v1';
const V1BETA1 = 'admission.k8s.io/v1beta1';
const JSON_TYPE = { 'content-type': 'application/json' };

/** Answers by the name of the object, so that this table is about the protocol and not about rules. */
const judge: Judge = async (webhook, request) => {
  const allowed = await allowAll(webhook, request);
  if (request.name === 'broken') throw new Error('a fault of ours');
  if (request.name === 'refused') {
    const cause = { reason: 'GPU002', field: 'spec', message: 'a fraction' };
    const answer = {
      code: 403,
      reason: 'Forbidden',
      message: 'no',
      causes: [cause],
      auditAnnotations: { findings: 'GPU002' },
    };
    return { ...allowed, answer: { ...answer, allowed: false, warnings: ['careful'] } };
  }
  if (request.name === 'changed') {
    const patch = [{ op: 'add' as const, path: '/metadata/labels', value: {} }];
    return { ...allowed, answer: { ...allowed.answer, patch } };
  }
  return allowed;
};

let server: Server;
beforeAll(async () => {
  server = await startServer({ judge });
});
afterAll(() => server.stop());

function review(request: object = {}, envelope: object = {}) {
  return {
    kind: 'AdmissionReview',
    apiVersion: V1,
    request: {
      uid: 'u-1',
      kind: { group: '', version: 'v1', kind: 'Pod' },
      operation: 'CREATE',
      name: 'plain',
      object: null,
      oldObject: null,
      ...request,
    },
    ...envelope,
  };
}

const posted = (body: object): Sent => ({ headers: JSON_TYPE, body: JSON.stringify(body) });

function allowed(uid: string, rest: object = {}, apiVersion = V1) {
  return { kind: 'AdmissionReview', apiVersion, response: { uid, allowed: true, ...rest } };
}

function refused(uid: string, code: number, reason: string, message: string, apiVersion = V1) {
  const status = { status: 'Failure', code, reason, message };
  return { kind: 'AdmissionReview', apiVersion, response: { uid, allowed: false, status } };
}

const WANTED = 'send an AdmissionReview of admission.k8s.io/v1 as JSON';
const TOO_LARGE = 'the request body is over the limit of 8 MiB: make the object smaller';
const whole = JSON.stringify(review());
const sized = (bytes: number) => Buffer.from(JSON.stringify(review({ pad: 'x'.repeat(bytes - whole.length - 9) })));
// The order in which kube-apiserver writes a review; a client that sorts keys puts the uid out of the first bytes.
const parts = (bytes: Buffer, size = 3 * MIB) =>
  Array.from({ length: Math.ceil(bytes.length / size) }, (_, at) => bytes.subarray(at * size, (at + 1) * size));

interface Case {
  readonly name: string;
  readonly sent: Sent;
  readonly answer: object;
}

const REVIEWS: Case[] = [
  { name: 'a review of v1', sent: posted(review()), answer: allowed('u-1') },
  {
    name: 'a review of v1beta1',
    sent: posted(review({}, { apiVersion: V1BETA1 })),
    answer: allowed('u-1', {}, V1BETA1),
  },
  {
    name: 'a review that is refused',
    sent: posted(review({ name: 'refused' })),
    answer: {
      kind: 'AdmissionReview',
      apiVersion: V1,
      response: {
        uid: 'u-1',
        allowed: false,
        status: {
          status: 'Failure',
          code: 403,
          reason: 'Forbidden',
          message: 'no',
          details: { causes: [{ reason: 'GPU002', field: 'spec', message: 'a fraction' }] },
        },
        warnings: ['careful'],
        auditAnnotations: { findings: 'GPU002' },
      },
    },
  },
  {
    name: 'a review whose object is changed',
    sent: posted(review({ name: 'changed' })),
    answer: allowed('u-1', {
      patchType: 'JSONPatch',
      patch: Buffer.from('[{"op":"add","path":"/metadata/labels","value":{}}]').toString('base64'),
    }),
  },
  { name: 'a DELETE', sent: posted(review({ operation: 'DELETE', oldObject: {} })), answer: allowed('u-1') },
  {
    name: 'a review without objects',
    sent: posted(review({ object: undefined, oldObject: undefined })),
    answer: allowed('u-1'),
  },
  { name: 'a dry run', sent: posted(review({ dryRun: true })), answer: allowed('u-1') },
  { name: 'a timeout in the path', sent: { ...posted(review()), path: '/mutate?timeout=2s' }, answer: allowed('u-1') },
  {
    name: 'a content type with parameters',
    sent: { headers: { 'content-type': 'Application/JSON; charset=utf-8' }, body: whole },
    answer: allowed('u-1'),
  },
  { name: 'a body of exactly 8 MiB', sent: { headers: JSON_TYPE, body: sized(8 * MIB) }, answer: allowed('u-1') },
  {
    name: 'keys that would poison a prototype',
    sent: {
      headers: JSON_TYPE,
      body: whole.replace(
        '"object":null',
        '"object":{"__proto__":{"a":1},"constructor":{"prototype":{}}},"__proto__":{}',
      ),
    },
    answer: allowed('u-1'),
  },
  {
    name: 'a fault of gpugate',
    sent: posted(review({ name: 'broken' })),
    answer: refused(
      'u-1',
      500,
      'InternalError',
      'gpugate failed to judge this object: an internal error, logged with uid u-1. Try again; if it stays, report that line of the log',
    ),
  },
];

const MALFORMED: Case[] = [
  {
    name: 'an empty body',
    sent: { headers: JSON_TYPE },
    answer: refused('', 400, 'BadRequest', `the request body is empty: ${WANTED}`),
  },
  { name: 'nothing at all', sent: {}, answer: refused('', 400, 'BadRequest', `the request body is empty: ${WANTED}`) },
  {
    name: 'text',
    sent: { headers: JSON_TYPE, body: 'hello' },
    answer: refused('', 400, 'BadRequest', `the request body is not valid JSON: ${WANTED}`),
  },
  {
    name: 'a review that is cut short',
    sent: { headers: JSON_TYPE, body: whole.slice(0, -2) },
    answer: refused('u-1', 400, 'BadRequest', `the request body is not valid JSON: ${WANTED}`),
  },
  {
    name: 'a cut review of v1beta1',
    sent: { headers: JSON_TYPE, body: whole.replace(V1, V1BETA1).slice(0, -2) },
    answer: refused('u-1', 400, 'BadRequest', `the request body is not valid JSON: ${WANTED}`, V1BETA1),
  },
  {
    name: 'another content type',
    sent: { headers: { 'content-type': 'text/plain' }, body: whole },
    answer: refused(
      'u-1',
      415,
      'UnsupportedMediaType',
      'content type "text/plain" is not supported: send application/json',
    ),
  },
  {
    name: 'a content type that only begins like JSON',
    sent: { headers: { 'content-type': 'application/json-patch+json' }, body: whole },
    answer: refused(
      'u-1',
      415,
      'UnsupportedMediaType',
      'content type "application/json-patch+json" is not supported: send application/json',
    ),
  },
  {
    name: 'a content type that is none',
    sent: { headers: { 'content-type': 'json' }, body: whole },
    answer: refused('u-1', 415, 'UnsupportedMediaType', 'content type "json" is not supported: send application/json'),
  },
  {
    name: 'no content type, and the uid behind other fields',
    sent: {
      body: JSON.stringify({ ...review(), request: Object.fromEntries(Object.entries(review().request).reverse()) }),
    },
    answer: refused('u-1', 415, 'UnsupportedMediaType', 'the request has no content type: send application/json'),
  },
  {
    name: 'a body one byte over 8 MiB',
    sent: { headers: JSON_TYPE, body: sized(8 * MIB + 1) },
    answer: refused('u-1', 413, 'RequestEntityTooLarge', TOO_LARGE),
  },
  {
    name: 'a body over 8 MiB in chunks, without a length',
    sent: { headers: JSON_TYPE, body: parts(sized(11 * MIB)) },
    answer: refused('u-1', 413, 'RequestEntityTooLarge', TOO_LARGE),
  },
  {
    name: 'noise over 8 MiB',
    sent: { headers: JSON_TYPE, body: parts(randomBytes(9 * MIB)) },
    answer: refused('', 413, 'RequestEntityTooLarge', TOO_LARGE),
  },
  {
    name: 'another kind',
    sent: posted(review({}, { kind: 'Pod' })),
    answer: refused('u-1', 400, 'BadRequest', 'kind is "Pod"; this webhook reads AdmissionReview objects'),
  },
  {
    name: 'an unknown version',
    sent: posted(review({}, { apiVersion: 'admission.k8s.io/v2' })),
    answer: refused(
      'u-1',
      400,
      'BadRequest',
      'apiVersion is "admission.k8s.io/v2"; this webhook answers admission.k8s.io/v1 and admission.k8s.io/v1beta1',
    ),
  },
  {
    name: 'no request',
    sent: posted({ kind: 'AdmissionReview', apiVersion: V1 }),
    answer: refused('', 400, 'BadRequest', 'the AdmissionReview has no request'),
  },
  {
    name: 'JSON that is no object',
    sent: { headers: JSON_TYPE, body: '[1]' },
    answer: refused('', 400, 'BadRequest', 'kind is missing; this webhook reads AdmissionReview objects'),
  },
];

describe.each(['/mutate', '/validate'])('POST %s', (path) => {
  it.each(REVIEWS)('answers $name', async ({ sent, answer }) => {
    const { status, headers, text } = await server.send({ path, ...sent });
    expect({ status, type: headers['content-type'], answer: JSON.parse(text) }).toEqual({
      status: 200,
      type: 'application/json; charset=utf-8',
      answer,
    });
  });

  it.each(MALFORMED)('answers $name with a review', async ({ sent, answer }) => {
    const { status, headers, text } = await server.send({ path, ...sent });
    expect({ status, type: headers['content-type'], answer: JSON.parse(text) }).toEqual({
      status: 200,
      type: 'application/json; charset=utf-8',
      answer,
    });
  });
});

describe('other requests', () => {
  const paths = 'POST /mutate, POST /validate, GET /livez, GET /readyz';
  it.each([
    ['GET', '/mutate', 405, 'Method Not Allowed', 'GET /mutate is not served: use POST'],
    ['PUT', '/validate?timeout=2s', 405, 'Method Not Allowed', 'PUT /validate is not served: use POST'],
    ['DELETE', '/mutate', 405, 'Method Not Allowed', 'DELETE /mutate is not served: use POST'],
    ['POST', '/livez', 405, 'Method Not Allowed', 'POST /livez is not served: use GET'],
    ['POST', '/mutate/', 404, 'Not Found', `nothing is served here: there are ${paths}`],
    ['GET', '/', 404, 'Not Found', `nothing is served here: there are ${paths}`],
    ['GET', '/metrics', 404, 'Not Found', `nothing is served here: there are ${paths}`],
    ['GET', '/constructor', 404, 'Not Found', `nothing is served here: there are ${paths}`],
  ])('%s %s is answered in plain JSON', async (method, path, status, error, message) => {
    const body = method === 'POST' || method === 'PUT' ? { body: 'a,b', headers: { 'content-type': 'text/csv' } } : {};
    const reply = await server.send({ method, path, ...body });
    expect({ status: reply.status, answer: JSON.parse(reply.text) }).toEqual({
      status,
      answer: { statusCode: status, error, message },
    });
  });

  it('a path that is no path is answered in plain JSON', async () => {
    expect((await server.send({ method: 'GET', path: '/%zz' })).status).toBe(400);
  });
});

describe('connections', () => {
  it('end after a body that is too large', async () => {
    const { headers } = await server.send({ headers: JSON_TYPE, body: sized(9 * MIB) });
    expect(headers.connection).toBe('close');
  });

  it('live on after any other malformed request', async () => {
    const { headers } = await server.send({ headers: JSON_TYPE, body: 'hello' });
    expect(headers.connection).toBe('keep-alive');
  });
});
