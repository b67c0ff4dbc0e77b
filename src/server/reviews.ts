import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Logger } from 'pino';
import type { AdmissionRequest } from '../admission/review.ts';
import { writeReview } from '../admission/review.ts';
import type { Body } from './body.ts';
import { bodyReader } from './body.ts';
import type { Judge } from './judge.ts';
import { openReview, refusal } from './malformed.ts';
import type { Metrics } from './metrics.ts';
import { operationLabel } from './metrics.ts';
import { recordMalformed, recordReview } from './record.ts';

/** What the two webhook paths need. */
export interface ReviewOptions {
  readonly judge: Judge;
  readonly metrics: Metrics;
  readonly logger: Logger;
}

/**
 * POST /mutate and POST /validate. Whatever comes in, the answer is HTTP 200 with an AdmissionReview: the API server
 * takes any other status for a failed call, and under `failurePolicy: Ignore` admits the object unchecked
 * (k8s.io/apiserver, pkg/admission/plugin/webhook/mutating/dispatcher.go).
 */
export async function reviewRoutes(app: FastifyInstance, options: ReviewOptions): Promise<void> {
  const readBody = bodyReader();
  // A parser of our own instead of Fastify's limit and JSON: it keeps the start of what is too large, and lets keys
  // such as __proto__ pass, which JSON.parse stores as plain properties.
  app.addContentTypeParser('*', (_request, payload, done) => {
    readBody(payload as FastifyRequest['raw']).then((body) => done(null, body), done);
  });

  for (const webhook of ['mutate', 'validate'] as const) {
    app.post(`/${webhook}`, (request, reply) =>
      answer(webhook, options, request, reply, request.body as Body | undefined),
    );
  }

  app.setErrorHandler(async (error, request, reply) => {
    const webhook = request.routeOptions.url === '/mutate' ? 'mutate' : 'validate';
    // Fastify refuses a content type without a slash before it reads the body; the uid in it is wanted all the same.
    if ((error as { code?: string }).code === 'FST_ERR_CTP_INVALID_MEDIA_TYPE') {
      return answer(webhook, options, request, reply, await readBody(request.raw));
    }
    // The API server gives up when its own caller does, or its time is over; nobody reads the answer then.
    if (request.raw.destroyed && !request.raw.complete) {
      options.logger.debug({ webhook, reason: (error as Error).message }, 'the sender went away');
      return reply.code(200).send();
    }
    options.metrics.panics.inc();
    options.logger.error({ webhook, err: error }, 'request failed');
    return reply
      .code(200)
      .send(writeReview('admission.k8s.io/v1', '', refusal(500, 'gpugate failed: an internal error, see its log')));
  });
}

const NOTHING: Body = { bytes: Buffer.alloc(0), tooLarge: false };

async function answer(
  webhook: 'mutate' | 'validate',
  { judge, metrics, logger }: ReviewOptions,
  request: FastifyRequest,
  reply: FastifyReply,
  body: Body = NOTHING,
): Promise<object> {
  const started = performance.now();
  reply.code(200);
  const opened = openReview(request.headers['content-type'], body);
  if (!opened.ok) {
    const { malformed } = opened;
    // What is left of an endless body must not be taken for the next request.
    if (body.tooLarge) reply.header('connection', 'close');
    recordMalformed(metrics, logger, webhook, malformed);
    return writeReview(malformed.apiVersion, malformed.uid, malformed.answer);
  }
  const { apiVersion, request: review } = opened.review;
  metrics.inFlight.inc();
  try {
    const judgement = await judge(webhook, review);
    const answered = writeReview(apiVersion, review.uid, judgement.answer);
    recordReview(metrics, logger, webhook, review, judgement, performance.now() - started);
    return answered;
  } catch (error) {
    return panicked(webhook, { judge, metrics, logger }, apiVersion, review, error);
  } finally {
    metrics.inFlight.dec();
  }
}

function panicked(
  webhook: 'mutate' | 'validate',
  { metrics, logger }: ReviewOptions,
  apiVersion: string,
  review: AdmissionRequest,
  error: unknown,
): object {
  const { uid, operation } = review;
  metrics.panics.inc();
  metrics.requests.inc({ webhook, operation: operationLabel(operation), outcome: 'panic' });
  logger.error({ webhook, uid, operation, err: error }, 'review failed');
  const message = `gpugate failed to judge this object: an internal error, logged with uid ${uid}. Try again; if it stays, report that line of the log`;
  return writeReview(apiVersion, uid, refusal(500, message));
}
