/** One kind of object with pod templates: how it is written, and where its templates stand. */
export interface Workload {
  readonly kind: string;
  readonly manifest: (name: string, namespace: string, podSpec: object) => Manifest;
  // biome-ignore lint/suspicious/noExplicitAny: objects of every kind, read where the kind is known.
  readonly templates: (live: any) => readonly any[];
  /** Whether the API server knows its schema. */
  readonly builtIn: boolean;
}

export type Manifest = { readonly kind: string; readonly metadata: object; readonly spec: object };

// biome-ignore lint/suspicious/noExplicitAny: as above.
const one = (live: any) => [live.spec.template];

function builtIn(apiVersion: string, kind: string, spec: (name: string, podSpec: object) => object): Workload {
  const manifest: Workload['manifest'] = (name, namespace, podSpec) => {
    return { apiVersion, kind, metadata: { name, namespace }, spec: spec(name, podSpec) } as Manifest;
  };
  return { kind, manifest, templates: one, builtIn: true };
}

const labelled = (name: string, spec: object) => ({ metadata: { labels: { app: name } }, spec });
const selecting = (name: string, spec: object) => ({
  selector: { matchLabels: { app: name } },
  template: labelled(name, spec),
});
const never = (spec: object) => ({ ...spec, restartPolicy: 'Never' });

/** Without replicas, or suspended: what pods come of it is another test's matter. */
export const BUILT_IN: readonly Workload[] = [
  builtIn('apps/v1', 'Deployment', (name, spec) => ({ replicas: 0, ...selecting(name, spec) })),
  builtIn('apps/v1', 'StatefulSet', (name, spec) => ({ replicas: 0, serviceName: name, ...selecting(name, spec) })),
  builtIn('apps/v1', 'DaemonSet', (name, spec) => selecting(name, { ...spec, nodeSelector: { no: 'where' } })),
  builtIn('apps/v1', 'ReplicaSet', (name, spec) => ({ replicas: 0, ...selecting(name, spec) })),
  builtIn('v1', 'ReplicationController', (name, spec) => ({
    replicas: 0,
    selector: { app: name },
    template: labelled(name, spec),
  })),
  builtIn('batch/v1', 'Job', (_, spec) => ({ suspend: true, template: { spec: never(spec) } })),
  {
    ...builtIn('batch/v1', 'CronJob', (_, spec) => ({
      schedule: '0 0 1 1 *',
      jobTemplate: { spec: { template: { spec: never(spec) } } },
    })),
    templates: (live) => [live.spec.jobTemplate.spec.template],
  },
];

function custom(
  apiVersion: string,
  kind: string,
  spec: (podSpec: object) => object,
  templates: Workload['templates'],
): Workload {
  const manifest: Workload['manifest'] = (name, namespace, podSpec) => {
    return { apiVersion, kind, metadata: { name, namespace }, spec: spec(podSpec) } as Manifest;
  };
  return { kind, manifest, templates, builtIn: false };
}

export const PYTORCH_JOB = custom(
  'kubeflow.org/v1',
  'PyTorchJob',
  (spec) => ({
    pytorchReplicaSpecs: {
      Master: { replicas: 1, template: { spec } },
      Worker: { replicas: 2, template: { metadata: { labels: { role: 'worker' } }, spec } },
    },
  }),
  (live) => Object.values(live.spec.pytorchReplicaSpecs).map((replica) => (replica as { template: object }).template),
);

export const RAY_CLUSTER = custom(
  'ray.io/v1',
  'RayCluster',
  (spec) => ({
    headGroupSpec: { rayStartParams: {}, template: { spec: { containers: [{ name: 'head', image: 'x' }] } } },
    workerGroupSpecs: [{ groupName: 'gpu', replicas: 1, template: { spec } }],
  }),
  (live) => [live.spec.workerGroupSpecs[0].template],
);

const JOB_SET = custom(
  'jobset.x-k8s.io/v1alpha2',
  'JobSet',
  (spec) => ({ replicatedJobs: [{ name: 'node', template: { spec: { template: { spec: never(spec) } } } }] }),
  (live) => [live.spec.replicatedJobs[0].template.spec.template],
);

export const CUSTOM: readonly Workload[] = [PYTORCH_JOB, RAY_CLUSTER, JOB_SET];

/** A CustomResourceDefinition without a schema, as a stand-in for the real one. */
export function standIn(apiVersion: string, kind: string): object {
  const [group = '', version = ''] = apiVersion.split('/');
  const plural = `${kind.toLowerCase()}s`;
  const schema = { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } };
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      names: { kind, plural, singular: kind.toLowerCase(), listKind: `${kind}List` },
      scope: 'Namespaced',
      versions: [{ name: version, served: true, storage: true, schema }],
    },
  };
}
