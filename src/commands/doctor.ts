import { setTimeout as sleep } from 'node:timers/promises';
import { type Command, Option } from 'commander';
import type { ApiClient } from '../cluster/client.ts';
import type { ExamineOptions } from '../doctor/examine.ts';
import type { Diagnosis } from '../doctor/result.ts';
import { addClusterFlags, type ClusterFlags, duration, namespaceName, withCluster } from './cluster-flags.ts';
import { EXIT, isFailure } from './exit.ts';
import { insideCluster } from './sources.ts';
import { openTemplateKinds } from './templates.ts';
import { VERSION } from './version.ts';

interface Options extends ClusterFlags {
  readonly namespace?: string;
  readonly configuration: string;
  readonly exclude: readonly string[];
  readonly templates?: string;
  readonly address?: string;
  readonly wait?: number;
  readonly interval: number;
  readonly output: 'text' | 'json';
  readonly warningsAsErrors: boolean;
}

/**
 * `gpugate doctor`. What it reads, each a question mark where RBAC forbids it: get of the two webhook configurations and of the CRD,
 * list of gpupolicies, namespaces and nodes; get of the Service, list of pods and endpointslices in gpugate's namespace; create of
 * gpupolicies, and of pods in the namespaces that it tries (RBAC can't tell a dry run from a create). The least for a pod: create
 * of pods in one namespace, with --namespace.
 */
export function configure(command: Command): void {
  command
    .option('-n, --namespace <name>', 'try pods only in this namespace', namespaceName)
    .option('--configuration <name>', 'name of the two webhook configurations', 'gpugate')
    .option('--address <host:port>', 'where gpugate is reached from here, such as a port-forward')
    .option(
      '--exclude <namespace>',
      'as `manifests` was given it; may be repeated',
      (name, all) => [...all, name],
      [] as string[],
    )
    .option('--templates <file>', 'the same file that `serve` is given')
    .addOption(new Option('--wait <time>', 'try again until it is well, for at most this long').argParser(duration))
    .addOption(
      new Option('--interval <time>', 'pause between two tries of --wait').argParser(duration).default(2000, '2s'),
    )
    .addOption(new Option('-o, --output <format>', 'how it is printed').choices(['text', 'json']).default('text'))
    .option('--warnings-as-errors', 'end with 1 on what is only to look at, too', false);
  addClusterFlags(command)
    .description(
      'Is the webhook itself well? Creates a GpuPolicy and pods as dry runs through the API server, of which gpugate must refuse some, change one and let one pass; looks at certificates and caBundles, at what is registered beside what this version would register, at the Service and its pods, at the CRD, and at policies that no gpugate has taken in. Stores nothing.',
    )
    .addHelpText(
      'after',
      `
Runs from outside, and in a pod with its service account. What RBAC forbids is a
question mark, not a failure. It reads the webhook configurations, the CRD,
gpupolicies, namespaces, nodes, and in gpugate's namespace services, pods and
endpointslices; it creates, as dry runs, gpupolicies and pods.

Examples:
  gpugate doctor
  gpugate doctor --wait 2m                 # after an install, in a script
  gpugate doctor --namespace default       # in a pod that may create pods there
  gpugate doctor -o json | jq '.checks[] | select(.mark == "problem")'

Exit codes: 0 well; 1 something is wrong (with --warnings-as-errors, or may be);
2 usage; 3 a file can't be read; 4 the cluster can't be asked; 124 it took longer
than --request-timeout, or with --wait was not well in time.`,
    )
    .action(async (options: Options) => {
      const { entries: registered, EXCLUDED_NAMESPACES } = await import('../registration/entries.ts');
      const excludedNamespaces = [...EXCLUDED_NAMESPACES, ...options.exclude];
      const { gpuResources, configuration, namespace, address } = options;
      const templateKinds = await openTemplateKinds(options.templates);
      const examineOptions: ExamineOptions = {
        version: VERSION,
        configuration,
        entries: registered({ excludedNamespaces, gpuResources, templateKinds }),
        excludedNamespaces,
        namespace,
        address,
        inCluster: insideCluster(),
      };
      const diagnosis = await untilWell(options, examineOptions);
      const { diagnosisText } = await import('../report/diagnosis.ts');
      const { styleOf } = await import('../report/marks.ts');
      const text =
        options.output === 'json'
          ? `${JSON.stringify(diagnosis, null, 2)}\n`
          : diagnosisText(diagnosis, styleOf(process.stdout));
      process.stdout.write(text);
      if (!isWell(diagnosis, options)) process.exitCode = options.wait === undefined ? EXIT.denied : EXIT.timeout;
    });
}

function isWell({ well, checks }: Diagnosis, { warningsAsErrors }: Options): boolean {
  return well && !(warningsAsErrors && checks.some(({ said }) => said.some(({ mark }) => mark === 'warning')));
}

/** The first good diagnosis; or the last one, when there is no more time. */
async function untilWell(options: Options, examineOptions: ExamineOptions): Promise<Diagnosis> {
  const until = Date.now() + (options.wait ?? 0);
  for (;;) {
    const left = until - Date.now();
    try {
      const diagnosis = await withCluster(options, (client, signal) => look(client, examineOptions, signal));
      if (isWell(diagnosis, options) || left <= 0) return diagnosis;
    } catch (error) {
      // An API server that is not there yet is what --wait is for.
      if (!isFailure(error) || left <= 0) throw error;
    }
    await sleep(Math.min(options.interval, Math.max(0, left)));
  }
}

async function look(client: ApiClient, options: ExamineOptions, signal: AbortSignal): Promise<Diagnosis> {
  const { examine } = await import('../doctor/examine.ts');
  const { diagnose } = await import('../doctor/doctor.ts');
  return diagnose(await examine(client, options, signal));
}
