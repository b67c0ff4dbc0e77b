import jsonpatch from 'fast-json-patch';
import type { PatchOperation } from '../../src/admission/patch.ts';
import type { AdmissionRequest } from '../../src/admission/review.ts';
import type { Judge, Judgement, Webhook } from '../../src/server/judge.ts';

/** How often each property is tried: `GPUGATE_PROPERTY_RUNS=20000 vitest run --project unit test/unit/properties` looks harder. */
export const RUNS = Number(process.env.GPUGATE_PROPERTY_RUNS ?? 100);
/** vitest's time limit of one property: none to speak of. */
export const TIMEOUT = 60_000 + RUNS * 100;

export function requestOf(object: unknown, details: Partial<AdmissionRequest> = {}): AdmissionRequest {
  return {
    uid: 'a-uid',
    kind: { group: '', version: 'v1', kind: 'Pod' },
    subResource: undefined,
    name: 'pod',
    namespace: 'team-a',
    operation: 'CREATE',
    object,
    oldObject: null,
    dryRun: false,
    ...details,
  };
}

export function ask(
  judge: Judge,
  webhook: Webhook,
  object: unknown,
  details: Partial<AdmissionRequest> = {},
): Promise<Judgement> {
  return judge(webhook, requestOf(object, details));
}

/** The object after a patch, which is checked while it is applied; neither is changed. */
export function applied<T>(object: T, patch: readonly PatchOperation[] = []): T {
  const operations = structuredClone(patch) as unknown as jsonpatch.Operation[];
  return jsonpatch.applyPatch(structuredClone(object), operations, true).newDocument as T;
}

/** What the API server makes of a Pod before the webhook sees it and after each patch: requests default from limits. */
export function withDefaults<T>(pod: T): T {
  const copy = structuredClone(pod);
  const { containers = [], initContainers = [] } = (copy as { spec: Record<string, unknown[]> }).spec;
  for (const container of [...(containers ?? []), ...(initContainers ?? [])] as Record<string, unknown>[]) {
    const resources = container.resources as { limits?: object; requests?: object } | null | undefined;
    if (resources?.limits) resources.requests = { ...resources.limits, ...resources.requests };
  }
  return copy;
}
