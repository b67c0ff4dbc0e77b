import { type Command, Option } from 'commander';
import { ApiError } from '../cluster/client.ts';
import type { Target } from '../cluster/workload-pods.ts';
import { TARGET_KINDS, targetKind } from '../cluster/workload-pods.ts';
import { addClusterFlags, type ClusterFlags, namespaceName, withCluster } from './cluster-flags.ts';
import { EXIT, failure } from './exit.ts';

interface Options extends ClusterFlags {
  readonly namespace?: string;
  readonly output: 'text' | 'json' | 'yaml';
  readonly exitCode: boolean;
}

/** `gpugate explain POD`, `gpugate explain namespace NAME` */
export function configure(command: Command): void {
  command
    .argument('<target...>', 'POD, KIND/NAME or KIND NAME; KIND is a pod, a workload, or namespace')
    .option('-n, --namespace <name>', 'namespace of the pod; else that of the context', namespaceName)
    .addOption(
      new Option('-o, --output <format>', 'how it is printed').choices(['text', 'json', 'yaml']).default('text'),
    )
    .option('--exit-code', 'end with 1 where something keeps the pod from running', false);
  addClusterFlags(command)
    .description(
      'Why is this pod Pending? Goes through the layers between a GPU request and a GPU: pod spec, admission and policy, labels of nodes, device plugin, runtime class, driver and hardware as far as the API shows them, and the scheduler. Says of each what was seen, and which command to run next. Only reads.',
    )
    .addHelpText(
      'after',
      `
KIND is ${TARGET_KINDS.join(', ')} or namespace.
Of a workload the pod that waits is explained; where the API server lets none be
made, for a quota or a refusal, that is, and where it wants none, why not.
\`explain namespace NAME\` says which
policy applies, from which label, and where each setting comes from.

Examples:
  gpugate explain train-0 -n team-a
  gpugate explain deployment/train -n team-a
  gpugate explain namespace team-a
  gpugate explain train-0 -o json | jq '.layers[] | select(.mark == "problem")'

What you may not read is a question mark, not an error. All of it needs get and
list of pods, events, namespaces, nodes, resourcequotas, resourceclaims,
runtimeclasses, deviceclasses, gpupolicies.gpugate.dev and the workloads.

Exit codes: 0 explained, whatever was found; 1 with --exit-code where something
keeps the pod from running; 2 usage; 3 there is no such object; 4 the cluster
can't be asked; 124 it took longer than --request-timeout.`,
    )
    .action(async (words: readonly string[], options: Options) => {
      await withCluster(options, async (client, signal) => {
        const [kind, name] = targetOf(words);
        const namespace = options.namespace ?? client.namespace;
        try {
          const { explainLive, explainLiveNamespace } = await import('./explain-live.ts');
          const told =
            kind === 'namespace'
              ? await explainLiveNamespace(client, name, options.output, signal)
              : await explainLive(client, { kind, namespace, name }, options, signal);
          process.stdout.write(told.text);
          if (options.exitCode && told.kept) process.exitCode = EXIT.denied;
        } catch (error) {
          if (!(error instanceof ApiError) || error.status !== 404) throw error;
          const hint = kind === 'pod' ? '; where a workload can make no pod, name the workload: deployment/NAME' : '';
          throw failure(
            EXIT.input,
            `${error.message}${kind === 'namespace' ? '' : ` in namespace ${namespace}`}${hint}`,
          );
        }
      });
    });
}

/** The kind and the name of `train-0`, `pod/train-0`, `pod train-0`, `namespace team-a`. */
function targetOf(words: readonly string[]): readonly [Target['kind'] | 'namespace', string] {
  const parts = words.length === 1 ? (words[0] ?? '').split('/') : words;
  const [first = '', second] = parts;
  if (parts.length > 2 || first === '' || second === '') throw failure(EXIT.usage, USAGE);
  if (second === undefined) return ['pod', first];
  if (/^(ns|namespaces?)$/.test(first)) return ['namespace', second];
  const kind = targetKind(first);
  if (!kind)
    throw failure(EXIT.usage, `${first} is no kind to explain; there are ${TARGET_KINDS.join(', ')}, namespace`);
  return [kind, second];
}

const USAGE = 'name one pod, KIND/NAME or KIND NAME (see gpugate explain --help)';
