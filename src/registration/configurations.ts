import { type Entry, type EntryOptions, entries } from './entries.ts';

/** How the API server reaches gpugate: by the name of a Service, or by a URL for a process outside the cluster. */
export type Target =
  | { readonly service: { readonly namespace: string; readonly name: string; readonly port: number } }
  | { readonly url: string };

export interface ConfigurationOptions extends EntryOptions {
  readonly target: Target;
  /** PEM of the certificate authority; left out where something else fills it in. */
  readonly caBundle?: string;
}

/** The name of both configurations, unless another is asked for. */
export const NAME = 'gpugate';
/** Where the API server keeps them, before the resource and the name. */
export const CONFIGURATIONS_PATH = '/apis/admissionregistration.k8s.io/v1';

/**
 * The two webhook configurations. Every field that the API server would default is written out, so that what is applied
 * is what stands in the cluster and a GitOps tool sees no drift.
 */
export function webhookConfigurations(options: ConfigurationOptions): readonly object[] {
  const all = entries(options);
  return (['mutate', 'validate'] as const).map((type) => ({
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: type === 'mutate' ? 'MutatingWebhookConfiguration' : 'ValidatingWebhookConfiguration',
    metadata: { name: NAME, labels: { 'app.kubernetes.io/name': NAME, 'app.kubernetes.io/part-of': NAME } },
    webhooks: all.filter((entry) => entry.type === type).map((entry) => webhook(entry, options)),
  }));
}

function webhook(entry: Entry, { target, caBundle }: ConfigurationOptions): object {
  const path = `/${entry.type}`;
  const address =
    'url' in target ? { url: `${target.url.replace(/\/$/, '')}${path}` } : { service: { ...target.service, path } };
  return {
    name: entry.name,
    clientConfig: { ...address, ...(caBundle ? { caBundle: Buffer.from(caBundle).toString('base64') } : {}) },
    rules: entry.rules,
    namespaceSelector: entry.namespaceSelector,
    objectSelector: {},
    failurePolicy: entry.failurePolicy,
    matchPolicy: 'Equivalent',
    sideEffects: 'None',
    timeoutSeconds: entry.timeoutSeconds,
    ...(entry.type === 'mutate' ? { reinvocationPolicy: entry.name.startsWith('reapply') ? 'Never' : 'IfNeeded' } : {}),
    admissionReviewVersions: ['v1'],
    ...(entry.matchConditions.length > 0 ? { matchConditions: entry.matchConditions } : {}),
  };
}
