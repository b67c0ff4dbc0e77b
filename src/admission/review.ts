import { z } from 'zod';
import { fieldOf } from '../policy/mistakes.ts';
import { parse } from '../policy/parse.ts';
import type { PatchOperation } from './patch.ts';
import { quoted } from './shown.ts';

const VERSIONS = ['admission.k8s.io/v1', 'admission.k8s.io/v1beta1'] as const;
const DEFAULT_VERSION = VERSIONS[0];

const optionalText = z
  .string()
  .nullish()
  .transform((value) => value ?? undefined);

/** The parts of an AdmissionRequest that are read. Fields of newer API servers are passed over. */
const requestSchema = z.object({
  // Not min(1): zod asks that of whatever has a length, and it may be one that throws when it is compared.
  uid: z.string().refine((uid) => uid !== '', { error: 'is empty' }),
  kind: z.object({ group: z.string().default(''), version: z.string().default(''), kind: z.string() }),
  subResource: optionalText,
  name: optionalText,
  namespace: optionalText,
  operation: z.string(),
  object: z.unknown().optional(),
  oldObject: z.unknown().optional(),
  dryRun: z
    .boolean()
    .nullish()
    .transform((value) => value ?? false),
  userInfo: z.object({ username: z.string().optional() }).nullish(),
});

export type AdmissionRequest = z.output<typeof requestSchema>;

/** A cause of a denial, for programs: `details.causes[]` of the Status. */
export interface Cause {
  readonly reason: string;
  readonly message: string;
  readonly field: string;
}

/** What is answered to one request. */
export interface Answer {
  readonly allowed: boolean;
  /** HTTP code of the Status that the client gets; only with a denial. */
  readonly code?: number;
  readonly reason?: string;
  readonly message?: string;
  readonly causes?: readonly Cause[];
  readonly warnings: readonly string[];
  readonly patch?: readonly PatchOperation[] | undefined;
  /** Keys without a slash: the API server puts the webhook's name before them. */
  readonly auditAnnotations: Readonly<Record<string, string>>;
}

export type ReviewRead =
  | { readonly ok: true; readonly apiVersion: string; readonly request: AdmissionRequest }
  | {
      readonly ok: false;
      readonly apiVersion: string;
      readonly uid: string;
      readonly code: number;
      readonly message: string;
    };

/** Reads a parsed AdmissionReview. What can't be read is told with the uid where there is one, so that the answer can carry it. */
export function readReview(body: unknown): ReviewRead {
  const envelope = typeof body === 'object' && body !== null ? (body as Readonly<Record<string, unknown>>) : {};
  const uid = uidOf(envelope.request);
  const known = VERSIONS.find((version) => version === envelope.apiVersion);
  const refuse = (message: string) => ({
    ok: false as const,
    apiVersion: known ?? DEFAULT_VERSION,
    uid,
    code: 400,
    message,
  });
  if (envelope.kind !== 'AdmissionReview') {
    return refuse(`kind is ${told(envelope.kind)}; this webhook reads AdmissionReview objects`);
  }
  if (!known)
    return refuse(`apiVersion is ${told(envelope.apiVersion)}; this webhook answers ${VERSIONS.join(' and ')}`);
  if (envelope.request === undefined || envelope.request === null) return refuse('the AdmissionReview has no request');
  const request = parse(requestSchema, envelope.request);
  if (request.success) return { ok: true, apiVersion: known, request: request.data };
  const [{ path, message } = { path: [], message: 'is not understood' }] = request.mistakes;
  return refuse(`${fieldOf(['request', ...path])} ${message}`);
}

/** The AdmissionReview that answers a request. A patch stands only in an answer that allows. */
export function writeReview(apiVersion: string, uid: string, answer: Answer): object {
  const { allowed, warnings, patch, auditAnnotations } = answer;
  const response: Record<string, unknown> = { uid, allowed };
  if (!allowed) response.status = statusOf(answer);
  if (allowed && patch && patch.length > 0) {
    response.patchType = 'JSONPatch';
    response.patch = Buffer.from(JSON.stringify(patch)).toString('base64');
  }
  if (warnings.length > 0) response.warnings = warnings;
  if (Object.keys(auditAnnotations).length > 0) response.auditAnnotations = auditAnnotations;
  return { apiVersion, kind: 'AdmissionReview', response };
}

function statusOf({ code = 403, reason = 'Forbidden', message = '', causes = [] }: Answer): object {
  return {
    status: 'Failure',
    code,
    reason,
    message,
    ...(causes.length > 0 ? { details: { causes } } : {}),
  };
}

function uidOf(request: unknown): string {
  const uid = typeof request === 'object' && request !== null ? (request as { uid?: unknown }).uid : undefined;
  return typeof uid === 'string' ? uid : '';
}

function told(value: unknown): string {
  return typeof value === 'string' ? quoted(value) : 'missing';
}
