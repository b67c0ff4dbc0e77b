import { stringify } from 'yaml';
import { configurationsYaml } from '../src/commands/manifests.ts';
import { gpuPolicyCrd } from '../src/registration/crd.ts';
import { nodeList } from '../test/cluster/nodes.ts';
import { chartValuesSchema } from './chart/values.ts';
import { valuesPage } from './chart/values-page.ts';
import { chartWebhooks } from './chart/webhooks.ts';
import { cliPage } from './cli.ts';
import { flagsPage } from './flags.ts';
import { metricsPage } from './metrics.ts';

/** The files of the repository that are made from code, and what each must hold. */
export async function generated(): Promise<readonly { readonly path: string; readonly text: string }[]> {
  const target = { service: { namespace: 'gpugate', name: 'gpugate', port: 443 } };
  const head =
    '# Made by `npm run generate` from src/registration. caBundle is left out: `gpugate manifests` puts it in.\n';
  const nodes =
    '# Made by `npm run generate` from test/cluster/nodes.ts: the nodes of `npm start` and `npm run cluster`.\n';
  // YAML 1.1, as kubectl reads it: the value off would be a boolean without quotes.
  const crd =
    '# Made by `npm run generate` from src/policy/schema.ts. Apply it before gpugate is registered, and before its GpuPolicies.\n';
  const crdYaml = crd + stringify(gpuPolicyCrd(), { version: '1.1', lineWidth: 0, aliasDuplicateObjects: false });
  const catalogue =
    '# Made by `npm run generate` from src/registration; templates/webhooks.yaml puts in what differs by release.\n';
  return [
    { path: 'deploy/crd.yaml', text: crdYaml },
    { path: 'deploy/chart/gpugate/crds/gpupolicies.yaml', text: crdYaml },
    { path: 'deploy/chart/gpugate/files/webhooks.yaml', text: catalogue + chartWebhooks() },
    { path: 'deploy/chart/gpugate/values.schema.json', text: chartValuesSchema() },
    { path: 'docs/values.md', text: valuesPage() },
    { path: 'docs/cli.md', text: await cliPage() },
    { path: 'deploy/webhooks.yaml', text: head + configurationsYaml({ target }) },
    { path: 'docs/flags.md', text: flagsPage() },
    { path: 'docs/metrics.md', text: metricsPage() },
    { path: 'deploy/demo/nodes.yaml', text: nodes + stringify(nodeList(), { aliasDuplicateObjects: false }) },
  ];
}
