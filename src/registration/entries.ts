import {
  APPLIED_AGAIN,
  type MatchCondition,
  NAMESPACE_LABELLED,
  podTouchesGpu,
  templateTouchesGpu,
} from './conditions.ts';

/** One entry of a webhook configuration: what it is for, and what happens when gpugate can't be reached. */
export interface Entry {
  /** Full, since the API server's error names it: `gpu-pods.validate.gpugate.dev`. */
  readonly name: string;
  readonly type: 'mutate' | 'validate';
  readonly purpose: string;
  readonly rules: readonly Rule[];
  readonly namespaceSelector: LabelSelector;
  readonly failurePolicy: 'Ignore' | 'Fail';
  readonly timeoutSeconds: number;
  readonly matchConditions: readonly MatchCondition[];
}

export interface Rule {
  readonly apiGroups: readonly string[];
  readonly apiVersions: readonly string[];
  readonly operations: readonly ('CREATE' | 'UPDATE')[];
  readonly resources: readonly string[];
  readonly scope: 'Namespaced' | 'Cluster';
}

export interface LabelSelector {
  readonly matchExpressions: readonly {
    readonly key: string;
    readonly operator: 'In' | 'NotIn' | 'Exists' | 'DoesNotExist';
    readonly values?: readonly string[];
  }[];
}

export interface EntryOptions {
  /** Namespaces that are never judged: the control plane's, gpugate's own and the GPU stack's. */
  readonly excludedNamespaces?: readonly string[];
  /** Resources that count as GPUs beside the catalogue. */
  readonly gpuResources?: readonly string[];
}

/** The operands of the GPU operator set NVIDIA_VISIBLE_DEVICES themselves; exempt by namespace, which a tenant can't set. */
export const EXCLUDED_NAMESPACES: readonly string[] = ['kube-system', 'kube-node-lease', 'gpugate', 'gpu-operator'];

const POLICY = 'gpugate.dev/policy';
const VISIBLE_DEVICES = 'gpugate.dev/visible-devices';
const MUTATE_SECONDS = 2;
const VALIDATE_SECONDS = 5;

/** The catalogue of entries, in the order in which they are written. */
export function entries(options: EntryOptions = {}): readonly Entry[] {
  const { excludedNamespaces = EXCLUDED_NAMESPACES, gpuResources = [] } = options;
  const included = { key: 'kubernetes.io/metadata.name', operator: 'NotIn' as const, values: excludedNamespaces };
  const guarded = { key: VISIBLE_DEVICES, operator: 'In' as const, values: ['void'] };
  const notGuarded = { ...guarded, operator: 'NotIn' as const };
  const governed = { key: POLICY, operator: 'Exists' as const };
  const open = { key: POLICY, operator: 'DoesNotExist' as const };
  const select = (...matchExpressions: LabelSelector['matchExpressions']): LabelSelector => ({
    matchExpressions: [included, ...matchExpressions],
  });
  const gpuPods = [podTouchesGpu(gpuResources)];

  return [
    {
      name: 'gpu-pods.mutate.gpugate.dev',
      type: 'mutate',
      purpose: 'explains, repairs or refuses GPU pods when they are created',
      rules: [pods('CREATE')],
      namespaceSelector: select(notGuarded),
      failurePolicy: 'Ignore',
      timeoutSeconds: MUTATE_SECONDS,
      matchConditions: gpuPods,
    },
    {
      name: 'reapply.mutate.gpugate.dev',
      type: 'mutate',
      purpose: 'puts back what gpugate changed when the manifest of a running pod is applied again',
      rules: [pods('UPDATE')],
      namespaceSelector: select(),
      failurePolicy: 'Ignore',
      timeoutSeconds: MUTATE_SECONDS,
      matchConditions: APPLIED_AGAIN,
    },
    {
      name: 'guard.mutate.gpugate.dev',
      type: 'mutate',
      purpose: `every pod of namespaces labelled ${VISIBLE_DEVICES}=void`,
      rules: [pods('CREATE'), EPHEMERAL_CONTAINERS],
      namespaceSelector: select(guarded),
      failurePolicy: 'Ignore',
      timeoutSeconds: MUTATE_SECONDS,
      matchConditions: [],
    },
    {
      name: 'guard.validate.gpugate.dev',
      type: 'validate',
      purpose: `every final pod of namespaces labelled ${VISIBLE_DEVICES}=void`,
      rules: [pods('CREATE'), EPHEMERAL_CONTAINERS],
      namespaceSelector: select(guarded),
      failurePolicy: 'Fail',
      timeoutSeconds: VALIDATE_SECONDS,
      matchConditions: [],
    },
    {
      name: 'gpu-pods.validate.gpugate.dev',
      type: 'validate',
      purpose: `the final GPU pod where a namespace has the label ${POLICY}`,
      rules: [pods('CREATE'), EPHEMERAL_CONTAINERS],
      namespaceSelector: select(governed, notGuarded),
      failurePolicy: 'Fail',
      timeoutSeconds: VALIDATE_SECONDS,
      matchConditions: gpuPods,
    },
    {
      name: 'gpu-pods-open.validate.gpugate.dev',
      type: 'validate',
      purpose: 'the final GPU pod elsewhere',
      rules: [pods('CREATE'), EPHEMERAL_CONTAINERS],
      namespaceSelector: select(open, notGuarded),
      failurePolicy: 'Ignore',
      timeoutSeconds: VALIDATE_SECONDS,
      matchConditions: gpuPods,
    },
    {
      name: 'templates.validate.gpugate.dev',
      type: 'validate',
      purpose: 'workloads whose pods would ask for a GPU, when they are applied',
      rules: TEMPLATES,
      namespaceSelector: select(),
      failurePolicy: 'Ignore',
      timeoutSeconds: VALIDATE_SECONDS,
      matchConditions: templateTouchesGpu(gpuResources),
    },
    {
      name: 'namespaces.validate.gpugate.dev',
      type: 'validate',
      purpose: 'warns of gpugate.dev/ labels that are not understood, when they are written',
      rules: [
        {
          apiGroups: [''],
          apiVersions: ['v1'],
          operations: ['CREATE', 'UPDATE'],
          resources: ['namespaces'],
          scope: 'Cluster',
        },
      ],
      // A Namespace is matched by its own labels; excluded ones are of no interest either.
      namespaceSelector: select(),
      failurePolicy: 'Ignore',
      timeoutSeconds: MUTATE_SECONDS,
      matchConditions: NAMESPACE_LABELLED,
    },
  ];
}

function pods(operation: 'CREATE' | 'UPDATE'): Rule {
  return { apiGroups: [''], apiVersions: ['v1'], operations: [operation], resources: ['pods'], scope: 'Namespaced' };
}

const EPHEMERAL_CONTAINERS: Rule = {
  apiGroups: [''],
  apiVersions: ['v1'],
  operations: ['UPDATE'],
  resources: ['pods/ephemeralcontainers'],
  scope: 'Namespaced',
};

const TEMPLATES: readonly Rule[] = [
  ['apps', ['deployments', 'statefulsets', 'daemonsets', 'replicasets']] as const,
  ['batch', ['jobs', 'cronjobs']] as const,
  ['', ['replicationcontrollers']] as const,
].map(([group, resources]) => ({
  apiGroups: [group],
  apiVersions: ['v1'],
  operations: ['CREATE', 'UPDATE'] as const,
  resources,
  scope: 'Namespaced' as const,
}));
