import { type Command, InvalidArgumentError, Option } from 'commander';
import { COLOURS, type ColourMode } from '../report/colour.ts';
import { addClusterFlags, type ClusterFlags, namespaceName } from './cluster-flags.ts';
import { EXIT, failure } from './exit.ts';
import { outputOption } from './output.ts';
import { FORMATS, type Output } from './review/outputs.ts';

/** What `gpugate review` was told. */
export interface ReviewOptions extends ClusterFlags {
  readonly namespace?: string;
  readonly namespaceLabel: Readonly<Record<string, string>>;
  readonly policies?: string;
  readonly namespaces?: string;
  readonly nodes?: string;
  readonly templates?: string;
  readonly cluster?: true;
  readonly output?: readonly Output[];
  readonly mutated?: true;
  readonly fix?: true;
  readonly fixPolicy?: true;
  readonly dryRun?: true;
  readonly warningsAsErrors?: true;
  readonly failOnEmpty?: true;
  readonly color: ColourMode;
}

/** `gpugate review`: what the webhook would do with manifests. */
export function configure(command: Command): void {
  command
    .description(
      'Says what the webhook would do with these manifests: files, folders with all below them, or - for standard input. ' +
        'GpuPolicies, Namespaces and Nodes among them are what the pods are judged by. No cluster is asked unless --cluster says so.',
    )
    .argument('<paths...>', 'manifests in YAML or JSON, Lists, recorded AdmissionReviews')
    .option(
      '-n, --namespace <name>',
      'namespace of objects that name none; else that of the context with --cluster, else "default"',
      namespaceName,
    )
    .option(
      '--namespace-label <key=value>',
      'a label that every namespace has, beside its own; may be repeated',
      label,
      {},
    )
    .option('--policies <path>', 'GpuPolicies, a file or a folder')
    .option('--namespaces <file>', 'Namespaces')
    .option('--nodes <file>', 'Nodes')
    .option('--templates <file>', 'further kinds that hold pod templates, a YAML list as `serve` takes it')
    .option('--cluster', 'take policies, namespaces, nodes and quotas from the cluster; what files say counts more')
    .addOption(outputOption(FORMATS, 'how to print what was found'))
    .option('--mutated', 'print the manifests as the webhook leaves them; what was found goes to standard error')
    .option('--fix', 'write what can be fixed without a guess into the files')
    .option('--fix-policy', 'write what the policies change into the files, too')
    .option('--dry-run', 'with --fix: show the differences and write nothing')
    .option('--warnings-as-errors', 'take warnings for errors')
    .option('--fail-on-empty', 'end with 3 if there is nothing to review')
    .addOption(new Option('--color <when>', 'colour the text').choices([...COLOURS]).default('auto'));
  addClusterFlags(command)
    .addHelpText(
      'after',
      `
Examples:
  gpugate review deploy/                                      every manifest below a folder
  helm template . | gpugate review - -n team-a                what a chart renders
  kubectl kustomize overlays/prod | gpugate review -
  gpugate review pod.yaml --namespace-label gpugate.dev/sharing=exclusive
  gpugate review deploy/ --policies policies/ --namespaces namespaces.yaml --nodes nodes.yaml
  gpugate review deploy/ --cluster --context staging          by the policies of a cluster
  gpugate review deploy/ -o text -o sarif=gpugate.sarif       for people, and for code scanning
  gpugate review deploy/ --fix --dry-run                      what would be fixed
  gpugate review --mutated pod.yaml | kubectl apply -f -

Exit codes, the same in every format: 0 nothing would be denied, 1 an object or its pods would be, 2 wrong use,
3 something can't be read (whatever was found in the rest), 4 the cluster or gpugate failed, 124 the cluster did not answer within --request-timeout.`,
    )
    .action(async (paths: readonly string[], options: ReviewOptions) => {
      const clash = clashOf(paths, options);
      if (clash !== undefined) throw failure(EXIT.usage, clash);
      const { review } = await import('./review/review.ts');
      process.exitCode = await review(paths, options);
    });
}

/** Flags that are fine each, but not together. */
function clashOf(paths: readonly string[], options: ReviewOptions): string | undefined {
  const { output = [], mutated, fix, fixPolicy, dryRun, cluster } = options;
  if (paths.includes('')) return 'a path is empty; give a file, a folder, or - for standard input';
  const named = (['context', 'kubeconfig'] as const).find((flag) => options[flag] !== undefined);
  if (named && !cluster) return `--${named} stands without --cluster, so no cluster would be asked; add --cluster`;
  const toStdout = output.filter(({ file }) => file === undefined).map(({ format }) => `-o ${format}`);
  const alone = [...toStdout, ...(mutated ? ['--mutated'] : [])];
  if (alone.length > 1)
    return `${alone.join(' and ')} both go to standard output; give one of them a file, as in -o json=FILE`;
  const fixing = fix ?? fixPolicy;
  if (dryRun && !fixing) return '--dry-run stands without --fix; review writes nothing by itself';
  if (fixing && mutated) return '--fix writes into the files, and --mutated prints them; leave out one of the two';
  if (fixing && !dryRun && paths.includes('-')) return '--fix cannot write to standard input; give files, or --dry-run';
  return undefined;
}

function label(text: string, before: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  const [, key, value] = /^([^=]+)=(.*)$/.exec(text) ?? [];
  if (key === undefined || value === undefined) throw new InvalidArgumentError('Write KEY=VALUE.');
  return { ...before, [key]: value };
}
