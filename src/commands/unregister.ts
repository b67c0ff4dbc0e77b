import { setTimeout as sleep } from 'node:timers/promises';
import { type Command, InvalidArgumentError } from 'commander';
import { ApiError } from '../cluster/client.ts';
import { DNS_SUBDOMAIN } from '../policy/names.ts';
import { CONFIGURATIONS_PATH, NAME } from '../registration/configurations.ts';
import { addConnectionFlags, type ConnectionFlags, withCluster } from './cluster-flags.ts';

interface Options extends ConnectionFlags {
  readonly webhookConfigurations: string;
}

/** An API server takes in a deletion by its own watch. Nothing tells when all of them have, so this is simply generous. */
const SETTLE_MS = 2000;

/** `gpugate unregister`: what the chart runs before it takes the replicas away. */
export function configure(command: Command): void {
  addConnectionFlags(command)
    .description(
      'Removes both webhook configurations from a cluster: from then on no pod is judged or changed. One that is not there is no error.',
    )
    .option('--webhook-configurations <name>', 'the name of both, as `serve` is given it', objectName, NAME)
    .addHelpText(
      'after',
      '\nExamples:\n  gpugate unregister --context staging\n  gpugate unregister --webhook-configurations gpugate-canary',
    )
    .action((options: Options) => withCluster(options, (client, signal) => unregister(client, options, signal)));
}

/** A DNS subdomain. Without a name in its path the API server would take a deletion for one of all configurations there are. */
function objectName(text: string): string {
  if (text.length <= 253 && DNS_SUBDOMAIN.test(text)) return text;
  throw new InvalidArgumentError('Write the name of an object, such as gpugate.');
}

async function unregister(
  client: { remove(path: string, signal: AbortSignal): Promise<void> },
  { webhookConfigurations: name }: Options,
  signal: AbortSignal,
): Promise<void> {
  for (const resource of ['validatingwebhookconfigurations', 'mutatingwebhookconfigurations']) {
    const removed = await client.remove(`${CONFIGURATIONS_PATH}/${resource}/${encodeURIComponent(name)}`, signal).then(
      () => true,
      (error: Error) => {
        if (error instanceof ApiError && error.status === 404) return false;
        throw error;
      },
    );
    process.stdout.write(`${resource}/${name} ${removed ? 'removed' : 'was not there'}\n`);
  }
  await sleep(SETTLE_MS);
}
