import type { Logger } from 'pino';
import type { AdmissionRequest } from '../admission/review.ts';
import type { Judgement } from './judge.ts';
import type { Malformed } from './malformed.ts';
import type { Metrics } from './metrics.ts';
import { operationLabel } from './metrics.ts';

/** Counts one judged review and writes its line: what was decided and why, never what the object holds. */
export function recordReview(
  metrics: Metrics,
  logger: Logger,
  webhook: 'mutate' | 'validate',
  request: AdmissionRequest,
  judgement: Judgement,
  ms: number,
): void {
  const { answer, mode, policy, findings, changes } = judgement;
  const operation = operationLabel(request.operation);
  metrics.requests.inc({ webhook, operation, outcome: outcomeOf(answer) });
  metrics.duration.observe({ webhook, operation }, ms / 1000);
  for (const { code } of findings) metrics.findings.inc({ code, mode });
  for (const { code } of changes) metrics.changes.inc({ code, mode });
  if (judgement.unread) metrics.unread.inc({ webhook });

  logger.info(
    {
      webhook,
      uid: request.uid,
      operation: request.operation,
      kind: request.kind.kind,
      namespace: request.namespace,
      name: request.name || generateName(request.object),
      dryRun: request.dryRun === true,
      allowed: answer.allowed,
      code: answer.code,
      mode,
      policy,
      findings: findings.map(codeOf),
      changes: changes.map(codeOf),
      ms: Math.round(ms * 1000) / 1000,
    },
    'review',
  );
}

/** Counts a request that held no review, and says which and why. */
export function recordMalformed(
  metrics: Metrics,
  logger: Logger,
  webhook: 'mutate' | 'validate',
  { reason, uid, answer }: Malformed,
): void {
  metrics.requests.inc({ webhook, operation: 'other', outcome: 'malformed' });
  metrics.malformed.inc({ reason });
  logger.warn({ webhook, uid, reason, code: answer.code, message: answer.message }, 'malformed request');
}

function outcomeOf(answer: Judgement['answer']): 'allowed' | 'changed' | 'denied' {
  if (!answer.allowed) return 'denied';
  return answer.patch === undefined || answer.patch.length === 0 ? 'allowed' : 'changed';
}

// A pod of a ReplicaSet has no name yet when it is reviewed, only the start of one.
function generateName(object: unknown): string | undefined {
  const metadata = (object as { metadata?: { generateName?: unknown } } | null | undefined)?.metadata;
  return typeof metadata?.generateName === 'string' ? metadata.generateName : undefined;
}

function codeOf({ code }: { readonly code: string }): string {
  return code;
}
