import { asObject } from '../admission/pod.ts';
import type { TemplateKinds } from '../admission/template-kinds.ts';
import { gpuResource } from '../policy/resources.ts';
import type { Manifest } from './read.ts';

/** Whether something within an object asks for a GPU as containers do: `resources: { limits: { nvidia.com/gpu: 1 } }`. */
export function asksSomewhere(value: unknown, extra: readonly string[]): boolean {
  if (Array.isArray(value)) return value.some((item) => asksSomewhere(item, extra));
  return Object.entries(asObject(value) ?? {}).some(
    // Tekton calls it computeResources.
    ([key, inner]) => (/resources$/i.test(key) && namesGpu(inner, extra)) || asksSomewhere(inner, extra),
  );
}

function namesGpu(resources: unknown, extra: readonly string[]): boolean {
  const { limits, requests } = asObject(resources) ?? {};
  return [limits, requests].some((amounts) =>
    Object.keys(asObject(amounts) ?? {}).some((name) => gpuResource(name, extra) !== undefined),
  );
}

/** What is to be known of a kind that asks for GPUs where nobody looks, in the review as in the webhook. */
export function unknownKindText({ apiVersion, kind }: Manifest, kinds: TemplateKinds): string {
  const group = apiVersion.includes('/') ? (apiVersion.split('/')[0] ?? '') : '';
  const like = ['/Pod', ...kinds.keys()].find((key) => key.split('/')[1]?.toLowerCase() === kind.toLowerCase());
  const what = `kind ${kind} of ${groupText(group)} asks for GPUs in pods that gpugate does not look at`;
  if (like === undefined) return `${what}; name its pod templates with --templates`;
  const [likeGroup = '', likeKind] = like.split('/');
  return `${what}; it looks at ${likeKind} of ${groupText(likeGroup)}`;
}

function groupText(group: string): string {
  return group === '' ? 'the core group' : `group ${group}`;
}
