import type { Answer } from '../admission/review.ts';
import { readReview } from '../admission/review.ts';
import type { Body } from './body.ts';
import { BODY_LIMIT, readHead } from './body.ts';

/** Why a request to a webhook path holds no AdmissionReview: a label value, so a closed set. */
type MalformedReason = 'empty_body' | 'content_type' | 'too_large' | 'not_json' | 'not_a_review';

/** A refusal of the request itself, before anything was judged. */
export interface Malformed {
  readonly reason: MalformedReason;
  readonly apiVersion: string;
  /** Empty where none could be read. */
  readonly uid: string;
  readonly answer: Answer;
}

const REASONS: Readonly<Record<number, string>> = {
  400: 'BadRequest',
  413: 'RequestEntityTooLarge',
  415: 'UnsupportedMediaType',
  500: 'InternalError',
};

const WANTED = 'send an AdmissionReview of admission.k8s.io/v1 as JSON';
const JSON_TYPE = /^application\/json\s*(?:;|$)/i;

/** An answer that refuses with a code of HTTP's meaning, which travels inside the review. */
export function refusal(code: number, message: string): Answer {
  const reason = REASONS[code];
  return { allowed: false, code, ...(reason ? { reason } : {}), message, warnings: [], auditAnnotations: {} };
}

/** A body that holds a review, or what is wrong with it. */
export type Opened =
  | { readonly ok: true; readonly review: Extract<ReturnType<typeof readReview>, { ok: true }> }
  | { readonly ok: false; readonly malformed: Malformed };

/** From the bytes of a request to a review. Never throws. */
export function openReview(contentType: string | undefined, body: Body): Opened {
  if (body.bytes.length === 0) return malformed('empty_body', 400, `the request body is empty: ${WANTED}`, body);
  if (contentType === undefined || !JSON_TYPE.test(contentType)) {
    const found =
      contentType === undefined
        ? 'the request has no content type'
        : `content type ${quote(contentType)} is not supported`;
    return malformed('content_type', 415, `${found}: send application/json`, body);
  }
  if (body.tooLarge) {
    const limit = `${BODY_LIMIT / 1024 / 1024} MiB`;
    return malformed('too_large', 413, `the request body is over the limit of ${limit}: make the object smaller`, body);
  }
  const parsed = parse(body.bytes);
  if (!parsed.ok) return malformed('not_json', 400, `the request body is not valid JSON: ${WANTED}`, body);
  const review = readReview(parsed.value);
  if (review.ok) return { ok: true, review };
  const answer = refusal(review.code, review.message);
  return { ok: false, malformed: { reason: 'not_a_review', apiVersion: review.apiVersion, uid: review.uid, answer } };
}

function malformed(reason: MalformedReason, code: number, message: string, body: Body): Opened {
  return { ok: false, malformed: { reason, ...identify(body), answer: refusal(code, message) } };
}

/** Version and uid of a body that is refused for another reason than what it says. */
function identify(body: Body): { apiVersion: string; uid: string } {
  const parsed = body.tooLarge ? undefined : parse(body.bytes);
  if (parsed?.ok) {
    const review = readReview(parsed.value);
    return { apiVersion: review.apiVersion, uid: review.ok ? review.request.uid : review.uid };
  }
  const head = readHead(body.bytes);
  return { apiVersion: head.apiVersion ?? 'admission.k8s.io/v1', uid: head.uid };
}

// V8's own message quotes the body, which can hold secrets, so the error is dropped.
function parse(bytes: Buffer): { ok: true; value: unknown } | { ok: false } {
  try {
    return { ok: true, value: JSON.parse(bytes.toString('utf8')) };
  } catch {
    return { ok: false };
  }
}

function quote(text: string): string {
  return JSON.stringify(text.length > 80 ? `${text.slice(0, 80)}...` : text);
}
