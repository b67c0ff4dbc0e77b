import { z } from 'zod';
import { gpuPolicySchema } from '../../src/policy/schema.ts';

const NAME = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/;
const name = z.string().regex(NAME);
const labelOrEmpty = z.string().regex(/^([a-z]([-a-z0-9]{0,61}[a-z0-9])?)?$/);
const nameOrEmpty = z.string().regex(/^([a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?)?$/);
const port = z.int().min(1).max(65535);
const duration = z.string().regex(/^[1-9][0-9]*[hms]$/);
const strings = z.record(z.string(), z.string());
const objects = z.array(z.record(z.string(), z.unknown()));
const object = z.record(z.string(), z.unknown());
const named = z.looseObject({ name: z.string().min(1) });
/** As Kubernetes writes amounts of CPU and memory. */
const quantity = z.union([z.string().regex(/^[0-9]+(\.[0-9]+)?(m|k|M|G|Ki|Mi|Gi)?$/), z.number().positive()]);
const memory = z.string().regex(/^[0-9]+(\.[0-9]+)?(k|M|G|Ki|Mi|Gi)?$/);
const seconds = z.int().min(0).max(30);
const resource = z.string().regex(/^[a-z0-9]([-a-z0-9.]*[a-z0-9])?\/[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?$/);
const switchedOn = z.boolean();

// As src/commands/templates.ts reads them, and pathSteps of src/admission/templates.ts.
const FIELD = '[A-Za-z_][A-Za-z0-9_-]*';
const labelKey = z.string().min(1);
const templateKind = z.strictObject({
  group: z.string().regex(/^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*)?$/),
  kind: z.string().regex(/^[A-Z][A-Za-z0-9]*$/),
  plural: z.string().regex(/^[a-z]([-a-z0-9]*[a-z0-9])?$/),
  paths: z.array(z.string().regex(new RegExp(`^${FIELD}(\\.(${FIELD}|\\*)|\\[\\*\\])*$`))).min(1),
  runsOnce: z.boolean().optional(),
});

const webhooks = z.strictObject({
  failClosed: z.enum(['labelled', 'all', 'none']),
  excludedNamespaces: z.array(name),
  namespaceSelector: z.array(
    z.union([
      z.strictObject({ key: labelKey, operator: z.enum(['In', 'NotIn']), values: z.array(z.string()).min(1) }),
      z.strictObject({ key: labelKey, operator: z.enum(['Exists', 'DoesNotExist']) }),
    ]),
  ),
  matchConditions: z.array(z.strictObject({ name: z.string(), expression: z.string() })),
  timeoutSeconds: z.strictObject({ mutate: seconds, validate: seconds }),
  annotations: strings,
});

const certificates = z.strictObject({
  source: z.enum(['own', 'cert-manager', 'secret']),
  own: z.strictObject({ lifetime: z.string().regex(/^[1-9][0-9]*[smhd]$/) }),
  certManager: z.strictObject({
    issuerRef: z.strictObject({ name: z.string(), kind: z.string(), group: z.string() }).partial(),
    duration,
    renewBefore: duration,
  }),
  secret: z.strictObject({
    name: nameOrEmpty,
    caBundle: z.string().regex(/^(\s*-----BEGIN CERTIFICATE-----[\s\S]*)?$/),
  }),
});

const share = z.union([z.int().min(0), z.string().regex(/^[0-9]{1,3}%$/)]);
const updateStrategy = z
  .strictObject({
    type: z.enum(['RollingUpdate', 'Recreate']),
    rollingUpdate: z.strictObject({ maxSurge: share, maxUnavailable: share }).partial(),
  })
  .partial();

const networkPolicy = z.strictObject({
  enabled: switchedOn,
  webhookFrom: objects,
  metricsFrom: objects,
  apiServerPorts: z.array(port).min(1),
  apiServerCIDRs: z.array(z.union([z.cidrv4(), z.cidrv6()])),
  dnsPorts: z.array(port),
  extraEgress: objects,
});

/** The values of the chart: values.schema.json is made from it, and refuses what is misspelt or of the wrong kind. */
export const valuesSchema = z
  .strictObject({
    replicas: z.int().min(1).nullable(),
    image: z.strictObject({
      // Without a tag or a digest, which have values of their own; a port of the registry is none.
      repository: z.string().regex(/^([^/@\s]+\/)*[^/@:\s]+$/),
      tag: z.string().regex(/^([A-Za-z0-9_][A-Za-z0-9_.-]{0,127})?$/),
      digest: z.string().regex(/^(sha256:[0-9a-f]{64})?$/),
      pullPolicy: z.enum(['IfNotPresent', 'Always', 'Never']),
      pullSecrets: z.array(z.string()),
    }),
    // A Service is named by it: no dots, and a letter first (DNS-1035).
    nameOverride: labelOrEmpty,
    fullnameOverride: labelOrEmpty,
    commonLabels: strings,
    policies: z.record(name, gpuPolicySchema.shape.spec),
    namespaces: z.record(name, strings),
    gpuResources: z.array(resource),
    templateKinds: z.array(templateKind),
    webhooks,
    certificates,
    clientCertificates: z.strictObject({
      caConfigMap: nameOrEmpty,
      names: z.array(z.string().regex(/^[^,]+$/)).min(1),
    }),
    namespaceLabelGuard: z.strictObject({
      enabled: switchedOn,
      users: z.array(z.string()),
      groups: z.array(z.string()),
      serviceAccounts: z.array(z.string().regex(/^[a-z0-9-]+\/[a-z0-9.-]+$/)),
    }),
    logLevel: z.enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent']),
    shutdownDelay: z.string().regex(/^(0|[0-9]+(\.[0-9]{1,3})?(ms|s))$/),
    terminationGracePeriodSeconds: z.int().min(1),
    resources: z.strictObject({
      requests: z.object({ cpu: quantity, memory }).partial().catchall(quantity),
      limits: z.object({ memory }).catchall(quantity),
    }),
    priorityClassName: nameOrEmpty,
    priorityQuota: switchedOn,
    updateStrategy,
    revisionHistoryLimit: z.int().min(0),
    podDisruptionBudget: z.strictObject({
      enabled: switchedOn,
      maxUnavailable: z.union([z.int().min(1), z.string().regex(/^[1-9][0-9]?%$/)]),
    }),
    nodeSelector: strings,
    tolerations: objects,
    affinity: object,
    topologySpreadConstraints: objects,
    podLabels: strings,
    podAnnotations: strings,
    deploymentAnnotations: strings,
    extraEnv: z.array(
      z.strictObject({ name: z.string().min(1), value: z.string().optional(), valueFrom: object.optional() }),
    ),
    extraArgs: z.array(z.string()),
    extraVolumes: z.array(named),
    extraVolumeMounts: z.array(named),
    podSecurityContext: object,
    containerSecurityContext: object,
    serviceAccount: z.strictObject({ create: switchedOn, name: nameOrEmpty, annotations: strings }),
    service: z.strictObject({ port, annotations: strings }),
    host: z.string().regex(/^[A-Za-z0-9.:-]*$/),
    ports: z.strictObject({ webhook: port, metrics: port }),
    hostNetwork: switchedOn,
    dnsPolicy: z.enum(['', 'ClusterFirst', 'ClusterFirstWithHostNet', 'Default', 'None']),
    dnsConfig: object,
    hooks: z.strictObject({ installCrd: switchedOn, unregister: switchedOn }),
    test: z.strictObject({ namespace: name }),
    networkPolicy,
    serviceMonitor: z.strictObject({
      enabled: switchedOn,
      labels: strings,
      interval: z.string().regex(/^([0-9]+(ms|s|m|h))?$/),
    }),
    prometheusRule: z.strictObject({
      enabled: switchedOn,
      labels: strings,
      runbookBase: z.string().regex(/^(\S+\/)?$/),
    }),
    dashboard: z.strictObject({ enabled: switchedOn, labels: strings, annotations: strings }),
    /** What Helm passes on to every chart below another. */
    global: object.optional(),
  })
  // What may be null, and so missing from what Helm checks; any other value has a default that templates count on.
  .partial({
    replicas: true,
    commonLabels: true,
    policies: true,
    namespaces: true,
    gpuResources: true,
    templateKinds: true,
    priorityClassName: true,
    updateStrategy: true,
    nodeSelector: true,
    tolerations: true,
    affinity: true,
    topologySpreadConstraints: true,
    podLabels: true,
    podAnnotations: true,
    deploymentAnnotations: true,
    extraEnv: true,
    extraArgs: true,
    extraVolumes: true,
    extraVolumeMounts: true,
    dnsPolicy: true,
    dnsConfig: true,
    host: true,
    serviceMonitor: true,
    prometheusRule: true,
    dashboard: true,
    namespaceLabelGuard: true,
  });

/** values.schema.json. Draft 7 is what every Helm 3 reads. */
export function chartValuesSchema(): string {
  const schema = z.toJSONSchema(valuesSchema, { target: 'draft-7', io: 'input', unrepresentable: 'any' });
  return `${JSON.stringify(schema, null, 2)}\n`;
}
