import type { Registry } from 'prom-client';
import { certificateMetrics } from '../src/certificates/metrics.ts';
import { readyMetric } from '../src/server/health.ts';
import { createMetrics } from '../src/server/metrics.ts';
import { reportPolicies } from '../src/server/policy-report.ts';

const SILENT = { info: () => undefined, warn: () => undefined };

/** Every metric that `serve` registers, on a registry without values. */
export function registered(): Registry {
  const { registry } = createMetrics('');
  const report = reportPolicies({
    policies: { current: () => new Map(), close: () => undefined },
    cluster: { namespaces: () => new Map(), synced: () => true },
    registry,
    logger: SILENT,
  });
  report.close();
  certificateMetrics(registry);
  readyMetric(registry, []);
  return registry;
}

/** One metric as the registry knows it. */
interface Described {
  readonly name: string;
  readonly help: string;
  readonly labelNames: readonly string[];
  readonly type: string;
}

/** docs/metrics.md */
export function metricsPage(): string {
  const all = registered()
    .getMetricsAsArray()
    .map((metric): Described => ({ ...(metric as unknown as Described), type: typeOf(metric) }))
    .sort((a, b) => (a.name < b.name ? -1 : 1));
  const ofNode = ({ name }: Described) => /^gpugate_(nodejs|process)_/.test(name);
  const row = ({ name, type, labelNames, help }: Described) =>
    `| \`${name}\` | ${type} | ${labelNames.map((label) => `\`${label}\``).join(', ')} | ${help} |`;
  const head = ['| metric | type | labels | meaning |', '| --- | --- | --- | --- |'];
  return `# Metrics

Made by \`npm run generate\` from the registry. They are served at \`/metrics\` of the second port (\`--metrics-port\`), in plain HTTP. No label holds a namespace, a pod or a
user, so their number does not grow with the cluster. A histogram has the names \`_bucket\`, \`_sum\` and \`_count\`.

${[...head, ...all.filter((metric) => !ofNode(metric)).map(row)].join('\n')}

## Of the process

From prom-client and Node, but for the heap's limit; they may change with these.

${[...head, ...all.filter(ofNode).map(row)].join('\n')}

## Of the API server

These tell what gpugate can't know: calls that never reached it. Scrape the API server for them; \`name\` is the entry, such as \`gpu-pods.validate.gpugate.dev\`.

${[...head, ...OF_THE_API_SERVER.map(row)].join('\n')}
`;
}

/** k8s.io/apiserver, pkg/admission/metrics/metrics.go */
export const OF_THE_API_SERVER: readonly Described[] = [
  {
    name: 'apiserver_admission_webhook_request_total',
    type: 'counter',
    labelNames: ['name', 'type', 'operation', 'code', 'rejected'],
    help: 'Calls of a webhook.',
  },
  {
    name: 'apiserver_admission_webhook_admission_duration_seconds',
    type: 'histogram',
    labelNames: ['name', 'type', 'operation', 'rejected'],
    help: 'Time of a call, the way there and back included.',
  },
  {
    name: 'apiserver_admission_webhook_rejection_count',
    type: 'counter',
    labelNames: ['name', 'type', 'operation', 'error_type', 'rejection_code'],
    help: 'Objects refused: by the webhook (error_type no_error), or since it could not be called (calling_webhook_error).',
  },
  {
    name: 'apiserver_admission_webhook_fail_open_count',
    type: 'counter',
    labelNames: ['name', 'type'],
    help: 'Objects let by since a webhook that fails open could not be called.',
  },
  {
    name: 'apiserver_admission_match_condition_evaluation_errors_total',
    type: 'counter',
    labelNames: ['name', 'kind', 'type', 'operation'],
    help: 'Match conditions that could not be evaluated.',
  },
];

function typeOf(metric: object): string {
  return metric.constructor.name.toLowerCase();
}
