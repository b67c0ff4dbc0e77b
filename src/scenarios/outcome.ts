import jsonpatch from 'fast-json-patch';
import type { Finding } from '../admission/findings.ts';
import type { Judgement, Webhook } from '../server/judge.ts';
import type { OpenScenario } from './open.ts';

/** What came of a scenario. */
export interface Outcome {
  readonly judgement: Judgement;
  readonly findings: readonly Finding[];
  /** Codes of the changes without repetition. */
  readonly changes: readonly string[];
  readonly before: unknown;
  /** The object with the answer's patch. */
  readonly after: unknown;
  /** What the API server would ask next, of the object that was let by: both webhooks. */
  readonly next?: { readonly mutate: Judgement; readonly validate: Judgement };
}

/** Asks as the API server would: the webhook about the input, then both about what came out of it. */
export async function outcomeOf({ input, ask }: OpenScenario, webhook: Webhook): Promise<Outcome> {
  const judgement = await ask(webhook, input);
  const after = patched(input, judgement);
  const outcome = {
    judgement,
    findings: judgement.findings,
    changes: [...new Set(judgement.changes.map(({ code }) => code))],
    before: input,
    after,
  };
  if (!judgement.answer.allowed || webhook === 'validate') return outcome;
  return { ...outcome, next: { mutate: await ask('mutate', after), validate: await ask('validate', after) } };
}

/** The object with the patch of the answer. */
export function patched(object: unknown, { answer }: Judgement): unknown {
  // Applying puts the operations' own values into the document, and later operations change them there.
  const patch = structuredClone(answer.patch ?? []) as unknown as jsonpatch.Operation[];
  return jsonpatch.applyPatch(structuredClone(object), patch, true).newDocument;
}
