import type { Command } from 'commander';
import type { ApiClient } from '../cluster/client.ts';
import { GROUP, gpuPolicyCrd, PLURAL } from '../registration/crd.ts';
import { addConnectionFlags, type ConnectionFlags, withCluster } from './cluster-flags.ts';

const PATH = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const NAME = `${PLURAL}.${GROUP}`;
/** Helm 4 applies `crds/` at each install, and fails where another field manager than itself has changed a field. */
const FIELD_MANAGER = 'helm';

/** `gpugate install-crd`: what the chart runs before an upgrade, since Helm leaves the files of `crds/` as they were first installed. */
export function configure(command: Command): void {
  addConnectionFlags(command)
    .description(
      'Adds the GpuPolicy resource that this gpugate was built with to a cluster, or brings it up to date. GpuPolicies that are there stay.',
    )
    .addHelpText('after', '\nExamples:\n  gpugate install-crd\n  gpugate install-crd --context staging')
    .action((options: ConnectionFlags) => withCluster(options, installCrd));
}

async function installCrd(client: ApiClient, signal: AbortSignal): Promise<void> {
  const created = await client.apply(`${PATH}/${NAME}`, gpuPolicyCrd(), FIELD_MANAGER, signal);
  process.stdout.write(`${NAME} ${created ? 'created' : 'is up to date'}\n`);
}
