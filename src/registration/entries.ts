import { type TemplateKind, type TemplateKinds, withTemplateKinds } from '../admission/template-kinds.ts';
import {
  APPLIED_AGAIN,
  type MatchCondition,
  NAMESPACE_LABELLED,
  NEW_SPEC,
  newTemplates,
  podTouchesGpu,
} from './conditions.ts';
import { GROUP, PLURAL } from './crd.ts';
import { GETS_CDI_DEVICES, MOUNTS_DEVICES } from './ways-round.ts';

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
  readonly operations: readonly ('CREATE' | 'UPDATE' | 'DELETE')[];
  readonly resources: readonly string[];
  readonly scope: 'Namespaced' | 'Cluster';
}

export interface LabelSelector {
  readonly matchExpressions?: readonly {
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
  /** Kinds that hold pod templates; those of the catalogue unless given. */
  readonly templateKinds?: TemplateKinds;
}

/** The operands of the GPU operator set NVIDIA_VISIBLE_DEVICES themselves; exempt by namespace, which a tenant can't set. */
export const EXCLUDED_NAMESPACES: readonly string[] = ['kube-system', 'kube-node-lease', 'gpugate', 'gpu-operator'];

const POLICY = 'gpugate.dev/policy';
const VISIBLE_DEVICES = 'gpugate.dev/visible-devices';
const MUTATE_SECONDS = 2;
const VALIDATE_SECONDS = 5;

/** The catalogue of entries, in the order in which they are written. */
export function entries(options: EntryOptions = {}): readonly Entry[] {
  const { excludedNamespaces = EXCLUDED_NAMESPACES, gpuResources = [], templateKinds = withTemplateKinds() } = options;
  const included = { key: 'kubernetes.io/metadata.name', operator: 'NotIn' as const, values: excludedNamespaces };
  const guarded = { key: VISIBLE_DEVICES, operator: 'In' as const, values: ['void'] };
  const notGuarded = { ...guarded, operator: 'NotIn' as const };
  const looked = { key: VISIBLE_DEVICES, operator: 'Exists' as const };
  const ignored = { key: VISIBLE_DEVICES, operator: 'NotIn' as const, values: ['ignore', 'void'] };
  const governed = { key: POLICY, operator: 'Exists' as const };
  const open = { key: POLICY, operator: 'DoesNotExist' as const };
  const select = (...matchExpressions: NonNullable<LabelSelector['matchExpressions']>): LabelSelector => ({
    matchExpressions: [included, ...matchExpressions],
  });
  const gpuPods = [podTouchesGpu(gpuResources)];
  const templates = templateRules([...templateKinds.values()]);

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
      // Apart from GPU pods: storage and node agents mount /dev everywhere, and only here is it looked at.
      name: 'devices.validate.gpugate.dev',
      type: 'validate',
      purpose: `pods that mount devices of the node where a namespace has the label ${VISIBLE_DEVICES}`,
      rules: [pods('CREATE'), EPHEMERAL_CONTAINERS],
      namespaceSelector: select(looked, ignored),
      failurePolicy: 'Fail',
      timeoutSeconds: VALIDATE_SECONDS,
      matchConditions: [MOUNTS_DEVICES],
    },
    {
      name: 'annotations.validate.gpugate.dev',
      type: 'validate',
      purpose: 'CDI annotations that a pod gets after it was made',
      rules: [pods('UPDATE')],
      namespaceSelector: select(),
      failurePolicy: 'Fail',
      timeoutSeconds: VALIDATE_SECONDS,
      matchConditions: [GETS_CDI_DEVICES],
    },
    {
      name: 'templates.mutate.gpugate.dev',
      type: 'mutate',
      purpose: 'changes pod templates where a policy says so, and tells of arithmetic before the API server refuses it',
      rules: templates,
      namespaceSelector: select(),
      failurePolicy: 'Ignore',
      timeoutSeconds: MUTATE_SECONDS,
      matchConditions: newTemplates(gpuResources),
    },
    {
      name: 'templates.validate.gpugate.dev',
      type: 'validate',
      purpose: 'workloads whose pods would ask for a GPU, when they are applied',
      rules: templates,
      namespaceSelector: select(),
      failurePolicy: 'Ignore',
      timeoutSeconds: VALIDATE_SECONDS,
      matchConditions: newTemplates(gpuResources),
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
    {
      // Open, since policies are installed together with gpugate, by Helm before its first replica is ready. One that is not
      // understood closes its namespaces (GPU101), so that nothing is let by.
      name: 'policies.validate.gpugate.dev',
      type: 'validate',
      purpose: 'refuses a GpuPolicy that would not be understood, when it is applied',
      rules: [policies('CREATE', 'UPDATE')],
      namespaceSelector: {},
      failurePolicy: 'Ignore',
      timeoutSeconds: VALIDATE_SECONDS,
      matchConditions: [NEW_SPEC],
    },
    {
      // Apart from the one before: what only warns must never be why a policy can't be deleted.
      name: 'policies-in-use.validate.gpugate.dev',
      type: 'validate',
      purpose: 'warns when a GpuPolicy is deleted that namespaces use',
      rules: [policies('DELETE')],
      namespaceSelector: {},
      failurePolicy: 'Ignore',
      timeoutSeconds: MUTATE_SECONDS,
      matchConditions: [],
    },
  ];
}

function pods(operation: 'CREATE' | 'UPDATE'): Rule {
  return { apiGroups: [''], apiVersions: ['v1'], operations: [operation], resources: ['pods'], scope: 'Namespaced' };
}

function policies(...operations: Rule['operations']): Rule {
  return { apiGroups: [GROUP], apiVersions: ['v1alpha1'], operations, resources: [PLURAL], scope: 'Cluster' };
}

const EPHEMERAL_CONTAINERS: Rule = {
  apiGroups: [''],
  apiVersions: ['v1'],
  operations: ['UPDATE'],
  resources: ['pods/ephemeralcontainers'],
  scope: 'Namespaced',
};

/** One rule a group. Custom resources in every version: what has another shape there is passed over. */
function templateRules(kinds: readonly TemplateKind[]): readonly Rule[] {
  const groups = Map.groupBy(kinds, ({ group, builtIn = false }) => `${builtIn} ${group}`);
  return [...groups.values()].map((members) => ({
    apiGroups: [members[0]?.group ?? ''],
    apiVersions: members[0]?.builtIn ? ['v1'] : ['*'],
    operations: ['CREATE', 'UPDATE'],
    resources: members.map(({ plural }) => plural),
    scope: 'Namespaced',
  }));
}
