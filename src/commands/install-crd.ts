import type { Command } from 'commander';
import { type ApiClient, ApiError } from '../cluster/client.ts';
import { GROUP, gpuPolicyCrd, PLURAL } from '../registration/crd.ts';
import { addConnectionFlags, type ConnectionFlags, withCluster } from './cluster-flags.ts';

const PATH = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const NAME = `${PLURAL}.${GROUP}`;

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
  const { spec, ...rest } = gpuPolicyCrd() as { readonly spec: object };
  try {
    // The list of versions is replaced as a whole, as a merge patch does it.
    await client.patch(`${PATH}/${NAME}`, { spec }, signal);
    process.stdout.write(`${NAME} is up to date\n`);
  } catch (error) {
    if (!(error instanceof ApiError && error.status === 404)) throw error;
    await client.create(PATH, { ...rest, spec }, signal);
    process.stdout.write(`${NAME} created\n`);
  }
}
