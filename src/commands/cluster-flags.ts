import { type Command, InvalidArgumentError, Option } from 'commander';
import type { ApiClient } from '../cluster/client.ts';
import { DNS_LABEL } from '../policy/names.ts';
import { isExtendedResource } from '../policy/resources.ts';
import { EXIT, failure, isFailure } from './exit.ts';

/** Which cluster, and for how long: named as kubectl names them. */
export interface ConnectionFlags {
  readonly kubeconfig?: string;
  readonly context?: string;
  readonly requestTimeout: number;
}

/** The flags of every verb that judges what a live cluster has. */
export interface ClusterFlags extends ConnectionFlags {
  readonly gpuResources: readonly string[];
}

export function addClusterFlags(command: Command): Command {
  return addConnectionFlags(command).option(
    '--gpu-resources <names>',
    'the same list that `serve` is given',
    resourceNames,
    [],
  );
}

export function addConnectionFlags(command: Command): Command {
  return command
    .option('--kubeconfig <file>', 'the cluster; else KUBECONFIG, ~/.kube/config, or in a pod its service account')
    .option('--context <name>', 'another context than the current one of the kubeconfig')
    .addOption(
      new Option('--request-timeout <time>', 'how long all requests may take together')
        .argParser(duration)
        .default(60_000, '60s'),
    );
}

/** Runs with a client; what fails at the cluster ends the process with one line, and with 124 if it took too long, else with 4. */
export async function withCluster<T>(
  flags: ConnectionFlags,
  run: (client: ApiClient, signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const { connect } = await import('../cluster/client.ts');
  const client = await connect(flags.kubeconfig, flags.context).catch((error: Error) => {
    throw failure(flags.kubeconfig === undefined ? EXIT.failed : EXIT.input, error.message);
  });
  const signal = AbortSignal.timeout(flags.requestTimeout);
  try {
    return await run(client, signal);
  } catch (error) {
    if (isFailure(error)) throw error;
    throw failure(signal.aborted ? EXIT.timeout : EXIT.failed, `the cluster: ${(error as Error).message}`);
  } finally {
    await client.close();
  }
}

/** Milliseconds of `90s`, `2m`, `1m30s`, `500ms`; a bare number is of seconds, as kubectl takes it. */
export function duration(text: string): number {
  const parts = /^(?:(\d+)h)?(?:(\d+)m(?!s))?(?:(\d+(?:\.\d+)?)s)?(?:(\d+)ms)?$/.exec(text);
  if (/^\d+$/.test(text)) return Number(text) * 1000;
  if (!parts || text === '') throw new InvalidArgumentError('Write a time such as 90s, 2m or 1m30s.');
  const [, hours = '0', minutes = '0', seconds = '0', millis = '0'] = parts;
  return ((Number(hours) * 60 + Number(minutes)) * 60 + Number(seconds)) * 1000 + Number(millis);
}

function resourceNames(text: string): readonly string[] {
  const names = text.split(',').map((name) => name.trim());
  if (!names.every(isExtendedResource)) {
    throw new InvalidArgumentError('Write names such as example.com/npu, parted by commas.');
  }
  return names;
}

/** The value of `--namespace`. An empty one, as a variable leaves it, is refused: nothing found in no namespace looks like all well. */
export function namespaceName(text: string): string {
  if (DNS_LABEL.test(text)) return text;
  throw new InvalidArgumentError(
    'The name of a namespace is at most 63 small letters, digits and "-", and begins and ends with a letter or a digit.',
  );
}
