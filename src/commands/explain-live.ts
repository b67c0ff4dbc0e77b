import { stringify } from 'yaml';
import type { ApiClient } from '../cluster/client.ts';
import type { KubernetesObject } from '../cluster/store.ts';
import type { Target } from '../cluster/workload-pods.ts';
import { explain, reasonsOf } from '../explain/explain.ts';
import { explainNamespace } from '../explain/namespace.ts';
import { readPending, readPolicies } from '../explain/pending.ts';
import { EXCLUDED_NAMESPACES } from '../registration/entries.ts';
import { explanationText, headline } from '../report/explanation.ts';
import { styleOf } from '../report/marks.ts';
import { namespaceText } from '../report/namespace.ts';
import { EXIT, failure } from './exit.ts';

type Output = 'text' | 'json' | 'yaml';

/** What to print, and whether something keeps the pod from running. */
interface Told {
  readonly text: string;
  readonly kept: boolean;
}

export async function explainLive(
  client: ApiClient,
  target: Target,
  { output, gpuResources }: { readonly output: Output; readonly gpuResources: readonly string[] },
  signal: AbortSignal,
): Promise<Told> {
  const explanation = explain(await readPending(client, target, gpuResources, signal));
  const data = { headline: headline(explanation), ...explanation };
  const text = output === 'text' ? explanationText(explanation, styleOf(process.stdout)) : asData(data, output);
  return { text, kept: reasonsOf(explanation).length > 0 };
}

export async function explainLiveNamespace(
  client: ApiClient,
  name: string,
  output: Output,
  signal: AbortSignal,
): Promise<Told> {
  const path = `/api/v1/namespaces/${encodeURIComponent(name)}`;
  const { metadata } = (await client.get(path, {}, signal)) as KubernetesObject;
  const policies = await readPolicies(client, signal);
  if (!policies)
    throw failure(EXIT.failed, 'GpuPolicies may not be listed by you: kubectl auth can-i list gpupolicies.gpugate.dev');
  const explanation = explainNamespace(name, metadata?.labels ?? {}, policies, EXCLUDED_NAMESPACES);
  const text = output === 'text' ? namespaceText(explanation, styleOf(process.stdout)) : asData(explanation, output);
  return { text, kept: explanation.problems.length > 0 };
}

function asData(value: object, output: Output): string {
  return output === 'yaml' ? stringify(value, { lineWidth: 0 }) : `${JSON.stringify(value, null, 2)}\n`;
}
