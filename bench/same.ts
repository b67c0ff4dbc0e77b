import { deepStrictEqual } from 'node:assert/strict';
import jsonPatch from 'fast-json-patch';

interface Answer {
  readonly response: { readonly uid: string; readonly allowed: boolean; readonly patch: string };
}

/** Throws unless two answers make the same of the reviewed object, and ask for a MIG slice in it. */
export function mustDoTheSame(review: { readonly request: { readonly object: object } }, a: Buffer, b: Buffer): void {
  const [one, other] = [a, b].map((body) => effect(review.request.object, JSON.parse(body.toString())));
  deepStrictEqual(one, other, 'the two servers answer differently');
  if (!JSON.stringify(one).includes('nvidia.com/mig-')) throw new Error('no MIG slice is asked for after the patch');
}

function effect(object: object, { response }: Answer) {
  const patch = JSON.parse(Buffer.from(response.patch, 'base64').toString());
  const { newDocument } = jsonPatch.applyPatch(object, patch, true, false);
  return { uid: response.uid, allowed: response.allowed, object: newDocument };
}
