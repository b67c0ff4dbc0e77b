import { stringify } from 'yaml';
import { webhookConfigurations } from '../../src/registration/configurations.ts';
import { EXCLUDED_NAMESPACES } from '../../src/registration/entries.ts';

/** What stands in the catalogue's match conditions where the chart puts `gpuResources`; templates/webhooks.yaml looks for it. */
const EXTRA_GPU_RESOURCES = 'extra-gpu-resources';

/**
 * The catalogue as the chart reads it: the entries of both configurations without `clientConfig`. The namespace of the
 * release and further exclusions, resources and kinds are put in by the template.
 */
export function chartWebhooks(): string {
  const [mutate = [], validate = []] = webhookConfigurations({
    target: { url: 'https://gpugate' },
    gpuResources: [EXTRA_GPU_RESOURCES],
    excludedNamespaces: EXCLUDED_NAMESPACES.filter((name) => name !== 'gpugate'),
  }).map((configuration) =>
    (configuration as { webhooks: Record<string, unknown>[] }).webhooks.map(({ clientConfig, ...entry }) => entry),
  );
  return stringify({ mutate, validate }, { version: '1.1', lineWidth: 0, aliasDuplicateObjects: false });
}
