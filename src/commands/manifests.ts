import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { whyUnread } from '../files/unread.ts';
import { yamlText } from '../files/yaml-text.ts';
import { isExtendedResource } from '../policy/resources.ts';
import { type Target, webhookConfigurations } from '../registration/configurations.ts';
import { EXCLUDED_NAMESPACES } from '../registration/entries.ts';
import { EXIT, failure } from './exit.ts';
import { openTemplateKinds } from './templates.ts';

interface Options {
  readonly service: Target;
  readonly url?: Target;
  readonly certDir: string;
  readonly ca: boolean;
  readonly exclude: readonly string[];
  readonly gpuResources: readonly string[];
  readonly templates?: string;
}

/** `gpugate manifests`: the webhook configurations as YAML, with the CA of the certificate that is served. */
export function configure(command: Command): void {
  command
    .description(
      'Prints the MutatingWebhookConfiguration and the ValidatingWebhookConfiguration as YAML, with the CA of the certificate that is served.',
    )
    .addOption(
      new Option('--service <namespace/name[:port]>', 'the Service that the API server calls')
        .argParser(service)
        .default(service('gpugate/gpugate'), 'gpugate/gpugate'),
    )
    .option('--url <url>', 'call this URL instead of a Service, for gpugate outside the cluster', url)
    .option('--cert-dir <dir>', 'where ca.crt lies', 'certs')
    .option('--no-ca', 'leave caBundle out, for something else to fill in')
    .option(
      '--gpu-resources <names>',
      'the same list that `serve` is given, so that such pods are sent',
      resourceNames,
      [],
    )
    .option('--templates <file>', 'the same file that `serve` is given, so that such workloads are sent')
    .option('--exclude <namespace>', 'a namespace that is never judged; may be repeated', excluded, [])
    .addHelpText(
      'after',
      `
Examples:
  gpugate manifests | kubectl apply --server-side -f -
  gpugate manifests --url https://127.0.0.1:8443 | kubectl apply --server-side -f -`,
    )
    .action(async (options: Options) => {
      const caBundle = options.ca ? await authority(options.certDir) : undefined;
      process.stdout.write(
        configurationsYaml({
          target: options.url ?? options.service,
          excludedNamespaces: [...EXCLUDED_NAMESPACES, ...options.exclude],
          gpuResources: options.gpuResources,
          templateKinds: await openTemplateKinds(options.templates),
          ...(caBundle === undefined ? {} : { caBundle }),
        }),
      );
    });
}

/** The configurations as one YAML stream. */
export function configurationsYaml(options: Parameters<typeof webhookConfigurations>[0]): string {
  const write = (object: object) => yamlText(object, { lineWidth: 0, aliasDuplicateObjects: false });
  return webhookConfigurations(options).map(write).join('---\n');
}

async function authority(directory: string): Promise<string> {
  const file = join(directory, 'ca.crt');
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    throw failure(EXIT.input, `${file}: ${whyUnread(error)}; start "gpugate serve" once to make one, or pass --no-ca`);
  }
}

function service(text: string): Target {
  const parts = /^([a-z0-9-]+)\/([a-z0-9-]+)(?::(\d{1,5}))?$/.exec(text);
  if (!parts) throw new InvalidArgumentError('Write namespace/name or namespace/name:port.');
  return { service: { namespace: parts[1] ?? '', name: parts[2] ?? '', port: Number(parts[3] ?? 443) } };
}

function url(text: string): Target {
  // The API server takes https only, and neither a user nor a query (webhook validation, apiextensions).
  const parsed = URL.canParse(text) ? new URL(text) : undefined;
  if (parsed?.protocol !== 'https:' || parsed.search || parsed.username) {
    throw new InvalidArgumentError('Write a URL that starts with https://, without user or query.');
  }
  return { url: text };
}

function resourceNames(text: string): readonly string[] {
  const names = text.split(',').map((name) => name.trim());
  if (!names.every(isExtendedResource))
    throw new InvalidArgumentError('Write names such as example.com/npu, parted by commas.');
  return names;
}

function excluded(namespace: string, before: readonly string[]): readonly string[] {
  return [...before, namespace];
}
