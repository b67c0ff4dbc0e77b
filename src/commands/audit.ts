import { type Command, Option } from 'commander';
import type { Audit } from '../audit/result.ts';
import { COLOURS, type ColourMode, isColoured } from '../report/colour.ts';
import { addClusterFlags, type ClusterFlags, namespaceName, withCluster } from './cluster-flags.ts';
import { EXIT } from './exit.ts';
import { type Output, outputOption, writeOutput } from './output.ts';
import { openTemplateKinds } from './templates.ts';
import { VERSION } from './version.ts';

const FORMATS = ['text', 'json', 'yaml', 'sarif', 'html', 'policyreport'] as const;
type Format = (typeof FORMATS)[number];

interface Options extends ClusterFlags {
  readonly namespace?: string;
  readonly allNamespaces?: true;
  readonly output?: readonly Output<Format>[];
  readonly exclude: readonly string[];
  readonly templates?: string;
  readonly warningsAsErrors?: true;
  readonly color: ColourMode;
}

/** Ten thousand pods are twenty pages. */
const TIMEOUT_MS = 600_000;

/** `gpugate audit`: what of a live cluster would not be admitted today. */
export function configure(command: Command): void {
  command
    .option('-n, --namespace <name>', 'only this namespace', namespaceName)
    .option('-A, --all-namespaces', 'every namespace, which is the default; counts more than -n')
    .addOption(outputOption(FORMATS, 'how to print what was found'))
    .option('--exclude <namespace>', 'as `manifests` was given it; may be repeated', excluded, [])
    .option('--templates <file>', 'further kinds that hold pod templates, as `serve` takes them')
    .option('--warnings-as-errors', 'end with 1 on warnings, too')
    .addOption(new Option('--color <when>', 'colour the text').choices([...COLOURS]).default('auto'));
  addClusterFlags(command);
  const timeout = command.options.find(({ long }) => long === '--request-timeout');
  timeout?.default(TIMEOUT_MS, '10m');
  command.setOptionValueWithSource('requestTimeout', TIMEOUT_MS, 'default');
  command
    .description(
      'Judges what lives in a cluster by the policies of today: pods, the templates of workloads, labels of namespaces, GpuPolicies, quotas, and what nodes offer. What is said of pods stands under what owns them. Reads only; what has ended is left out.',
    )
    .addHelpText(
      'after',
      `
A pod counts as refused where the validating webhook would refuse it, were it
made as it is now: it may be older than its policy, or have come past the webhook.
PolicyReport objects (wgpolicyk8s.io/v1alpha2) are printed, not applied.

Examples:
  gpugate audit
  gpugate audit -n team-a -o json | jq '.codes'
  gpugate audit -o html=audit.html -o text
  gpugate audit -o policyreport | kubectl apply --server-side -f -

It lists namespaces, nodes, pods, gpupolicies.gpugate.dev, and the kinds that hold
pod templates; and, where it may, resourcequotas, limitranges, deviceclasses and
runtimeclasses.

Exit codes, the same in every format: 0 nothing would be refused; 1 something
would (with --warnings-as-errors, or is warned of); 2 usage; 3 there is no such
namespace, or a file can't be read; 4 the cluster can't be asked; 124 it took
longer than --request-timeout.`,
    )
    .action(async (options: Options) => {
      const audit = await audited(options);
      const outputs = options.output ?? [{ format: 'text' as const }];
      for (const { format, file } of outputs) {
        const colour = file === undefined && isColoured(options.color, process.stdout);
        const text = await rendered(format, audit, colour);
        if (file === undefined) process.stdout.write(text);
        else await writeOutput(file, text);
      }
      const levels = new Set(audit.objects.flatMap(({ findings }) => findings.map(({ level }) => level)));
      if (levels.has('error') || (options.warningsAsErrors && levels.size > 0)) process.exitCode = EXIT.denied;
    });
}

async function audited(options: Options): Promise<Audit> {
  const { EXCLUDED_NAMESPACES } = await import('../registration/entries.ts');
  const { auditCluster } = await import('./audit/run.ts');
  const { progress } = await import('./audit/progress.ts');
  const { gpuResources } = options;
  const namespace = options.allNamespaces ? undefined : options.namespace;
  const templateKinds = await openTemplateKinds(options.templates);
  const excludedNamespaces = [...EXCLUDED_NAMESPACES, ...options.exclude];
  const bar = await progress(process.stderr);
  try {
    return await withCluster(options, (client, signal) =>
      auditCluster(
        client,
        { version: VERSION, namespace, excludedNamespaces, gpuResources, templateKinds, onProgress: bar.show },
        signal,
      ),
    );
  } finally {
    bar.stop();
  }
}

async function rendered(format: Format, audit: Audit, colour: boolean): Promise<string> {
  switch (format) {
    case 'text':
      return (await import('../report/audit-text.ts')).auditText(audit, colour);
    case 'json':
      return (await import('../report/json.ts')).asJson(audit);
    case 'yaml':
      return (await import('../report/json.ts')).asYaml(audit);
    case 'sarif': {
      const { RULE_PAGES } = await import('./rule-pages.ts');
      return (await import('../report/sarif.ts')).asSarif(audit, RULE_PAGES);
    }
    case 'html':
      return (await import('../report/html.ts')).asHtml(audit);
    case 'policyreport':
      return (await import('../report/policy-report.ts')).asPolicyReports(audit);
  }
}

function excluded(namespace: string, before: readonly string[]): readonly string[] {
  return [...before, namespace];
}
