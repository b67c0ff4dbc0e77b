import { type Command, Option } from 'commander';

/** One setting of `serve`: a flag, and the variable that stands in for it. */
export interface Flag {
  readonly long: string;
  readonly variable: string;
  readonly argument: string;
  readonly about: string;
  readonly default?: string;
}

/** Every setting of `serve` that has a value, by the name commander gives it. */
export const FLAGS: Readonly<Record<string, Flag>> = {
  host: flag('--host', '<address>', 'address to listen on', '127.0.0.1'),
  port: flag('--port', '<number>', 'port of the webhook, HTTPS', '8443'),
  metricsPort: flag('--metrics-port', '<number>', 'port of metrics and health, plain HTTP', '9090'),
  certDir: flag(
    '--cert-dir',
    '<dir>',
    'where tls.crt and tls.key lie; development certificates are made if empty',
    'certs',
  ),
  certSecret: flag(
    '--cert-secret',
    '<namespace/name>',
    'Secret for certificates that gpugate makes, renews and publishes itself, instead of --cert-dir',
  ),
  service: flag('--service', '<namespace/name>', 'Service that the API server calls, for the names of --cert-secret'),
  webhookConfigurations: flag(
    '--webhook-configurations',
    '<name>',
    'name of the two webhook configurations whose caBundle --cert-secret keeps up',
    'gpugate',
  ),
  certLifetime: flag('--cert-lifetime', '<time>', 'life of the certificates of --cert-secret, from 10s to 365d', '90d'),
  policies: flag('--policies', '<dir>', 'GpuPolicy documents, instead of those of the cluster'),
  namespaces: flag('--namespaces', '<file>', 'manifests of Namespaces, instead of a cluster'),
  nodes: flag('--nodes', '<file>', 'manifests of Nodes, instead of a cluster'),
  kubeconfig: flag('--kubeconfig', '<file>', 'cluster to watch; inside a cluster its own is the default'),
  gpuResources: flag('--gpu-resources', '<names>', 'further resources that count as GPUs, parted by commas'),
  templates: flag('--templates', '<file>', 'further kinds that hold pod templates, a YAML list'),
  logLevel: flag('--log-level', '<level>', 'trace, debug, info, warn, error, fatal or silent', 'info'),
  logLevelFile: flag(
    '--log-level-file',
    '<file>',
    'holds a level that wins over --log-level, watched; it need not be there',
  ),
  clientCa: flag('--client-ca', '<file>', 'only clients with a certificate of this CA may send reviews, watched'),
  clientNames: flag(
    '--client-names',
    '<names>',
    'common names of such certificates, parted by commas',
    'kube-apiserver',
  ),
  shutdownDelay: flag('--shutdown-delay', '<time>', 'serves on for this long after SIGTERM', '10s'),
};

/** Adds the settings of `serve` to its command. */
export function addFlags(command: Command, environment: NodeJS.ProcessEnv = process.env): Command {
  for (const { long, variable, argument, about, default: byDefault } of Object.values(FLAGS)) {
    const option = new Option(`${long} ${argument}`, about);
    if (byDefault !== undefined) option.default(byDefault);
    if (isMeant(environment[variable])) option.env(variable);
    else option.description = `${about} (env: ${variable})`;
    command.addOption(option);
  }
  return command;
}

/**
 * Whether a variable is a setting. Kubernetes gives every pod variables for the Services of its namespace, so one
 * named `gpugate` sets GPUGATE_PORT to `tcp://10.96.0.1:443` (kubernetes.io, "Accessing the Service"). An empty one
 * is what a chart leaves where a value isn't given.
 */
function isMeant(value: string | undefined): boolean {
  return value !== undefined && value !== '' && !/^(tcp|udp|sctp):\/\//.test(value);
}

function flag(long: string, argument: string, about: string, byDefault?: string): Flag {
  const variable = `GPUGATE_${long.slice(2).replaceAll('-', '_').toUpperCase()}`;
  return { long, variable, argument, about, ...(byDefault === undefined ? {} : { default: byDefault }) };
}
