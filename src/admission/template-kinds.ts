/** A kind of object that holds pod templates, and where they stand in it. */
export interface TemplateKind {
  /** API group; empty for the core group. */
  readonly group: string;
  readonly kind: string;
  /** As webhook rules and RBAC name it: `pytorchjobs`. */
  readonly plural: string;
  /**
   * Fields from the top of the object: `spec.template`, `spec.pytorchReplicaSpecs.*.template` (every key of a map),
   * `spec.workerGroupSpecs[*].template` (every element of a list). Where an object has nothing of that shape, it is passed over.
   */
  readonly paths: readonly string[];
  /** Containers that stand outside of any template: a TrainJob overrides the one of its runtime. Judged, never changed. */
  readonly containers?: readonly { readonly path: string; readonly resources: string }[];
  /** Decoded, defaulted and validated by the API server itself, which refuses a fraction with a bare "must be an integer". */
  readonly builtIn?: boolean;
  /** Made to run once: what it runs can't change later, so that an update is never rewritten, only put back. */
  readonly runsOnce?: boolean;
}

const TEMPLATE = ['spec.template'];

const BUILT_IN: readonly TemplateKind[] = [
  { group: 'apps', kind: 'Deployment', plural: 'deployments', paths: TEMPLATE, builtIn: true },
  { group: 'apps', kind: 'StatefulSet', plural: 'statefulsets', paths: TEMPLATE, builtIn: true },
  { group: 'apps', kind: 'DaemonSet', plural: 'daemonsets', paths: TEMPLATE, builtIn: true },
  { group: 'apps', kind: 'ReplicaSet', plural: 'replicasets', paths: TEMPLATE, builtIn: true },
  { group: '', kind: 'ReplicationController', plural: 'replicationcontrollers', paths: TEMPLATE, builtIn: true },
  { group: 'batch', kind: 'Job', plural: 'jobs', paths: TEMPLATE, builtIn: true, runsOnce: true },
  { group: 'batch', kind: 'CronJob', plural: 'cronjobs', paths: ['spec.jobTemplate.spec.template'], builtIn: true },
];

/**
 * kubeflow/training-operator v1, pkg/apis/kubeflow.org/v1/{pytorch,tensorflow,mpi,xgboost,paddlepaddle,jax}_types.go: a map of
 * ReplicaSpecs, each with a PodTemplateSpec under `template`. kubeflow/mpi-operator v2beta1 has the same field.
 */
const KUBEFLOW_JOBS: readonly TemplateKind[] = [
  ['PyTorchJob', 'pytorchjobs', 'pytorchReplicaSpecs'],
  ['TFJob', 'tfjobs', 'tfReplicaSpecs'],
  ['MPIJob', 'mpijobs', 'mpiReplicaSpecs'],
  ['XGBoostJob', 'xgboostjobs', 'xgbReplicaSpecs'],
  ['PaddleJob', 'paddlejobs', 'paddleReplicaSpecs'],
  ['JAXJob', 'jaxjobs', 'jaxReplicaSpecs'],
].map(([kind = '', plural = '', field]) => {
  return { group: 'kubeflow.org', kind, plural, paths: [`spec.${field}.*.template`], runsOnce: true };
});

const KUBEFLOW: readonly TemplateKind[] = [
  ...KUBEFLOW_JOBS,
  // kubeflow/kubeflow, components/notebook-controller/api/v1/notebook_types.go: the template has a spec and no metadata.
  { group: 'kubeflow.org', kind: 'Notebook', plural: 'notebooks', paths: TEMPLATE },
  // kubeflow/trainer v2, pkg/apis/trainer/v1alpha1/trainingruntime_types.go: the template is one of a JobSet.
  {
    group: 'trainer.kubeflow.org',
    kind: 'TrainingRuntime',
    plural: 'trainingruntimes',
    paths: ['spec.template.spec.replicatedJobs[*].template.spec.template'],
  },
  // trainjob_types.go: no template, but `trainer.resourcesPerNode`, which takes the place of the resources of the runtime's
  // container (pkg/runtime/framework/plugins/jobset/builder.go). Runtime patches can't set resources.
  {
    group: 'trainer.kubeflow.org',
    kind: 'TrainJob',
    plural: 'trainjobs',
    paths: [],
    containers: [{ path: 'spec.trainer', resources: 'resourcesPerNode' }],
    runsOnce: true,
  },
];

/** ray-project/kuberay, ray-operator/apis/ray/v1/ray{cluster,job,service,cronjob}_types.go. */
const rayCluster = (spec: string) => [`${spec}.headGroupSpec.template`, `${spec}.workerGroupSpecs[*].template`];
const rayJob = (spec: string) => [...rayCluster(`${spec}.rayClusterSpec`), `${spec}.submitterPodTemplate`];
const RAY: readonly TemplateKind[] = [
  { group: 'ray.io', kind: 'RayCluster', plural: 'rayclusters', paths: rayCluster('spec') },
  { group: 'ray.io', kind: 'RayJob', plural: 'rayjobs', paths: rayJob('spec'), runsOnce: true },
  { group: 'ray.io', kind: 'RayService', plural: 'rayservices', paths: rayCluster('spec.rayClusterConfig') },
  { group: 'ray.io', kind: 'RayCronJob', plural: 'raycronjobs', paths: rayJob('spec.jobTemplate') },
];

const OTHERS: readonly TemplateKind[] = [
  // kubernetes-sigs/jobset, api/jobset/v1alpha2/jobset_types.go: ReplicatedJob.template is a JobTemplateSpec.
  {
    group: 'jobset.x-k8s.io',
    kind: 'JobSet',
    plural: 'jobsets',
    paths: ['spec.replicatedJobs[*].template.spec.template'],
    runsOnce: true,
  },
  // kubernetes-sigs/lws, api/leaderworkerset/v1/leaderworkerset_types.go
  {
    group: 'leaderworkerset.x-k8s.io',
    kind: 'LeaderWorkerSet',
    plural: 'leaderworkersets',
    paths: ['spec.leaderWorkerTemplate.leaderTemplate', 'spec.leaderWorkerTemplate.workerTemplate'],
  },
  // volcano-sh/apis, pkg/apis/batch/v1alpha1/job.go; config/crd/volcano/bases/batch.volcano.sh_cronjobs.yaml of volcano-sh/volcano;
  // pkg/apis/flow/v1alpha1/jobtemplate_types.go
  { group: 'batch.volcano.sh', kind: 'Job', plural: 'jobs', paths: ['spec.tasks[*].template'], runsOnce: true },
  {
    group: 'batch.volcano.sh',
    kind: 'CronJob',
    plural: 'cronjobs',
    paths: ['spec.jobTemplate.spec.tasks[*].template'],
  },
  { group: 'flow.volcano.sh', kind: 'JobTemplate', plural: 'jobtemplates', paths: ['spec.tasks[*].template'] },
];

/** Every kind whose pods are previewed. A kind whose CRD isn't installed costs nothing: no request of it ever comes. */
export const TEMPLATE_KINDS: readonly TemplateKind[] = [...BUILT_IN, ...KUBEFLOW, ...RAY, ...OTHERS];

/** Kinds by `group/kind`. */
export type TemplateKinds = ReadonlyMap<string, TemplateKind>;

/** The catalogue with what a configuration adds; an added kind takes the place of one of the same group and name. */
export function withTemplateKinds(added: readonly TemplateKind[] = []): TemplateKinds {
  return new Map([...TEMPLATE_KINDS, ...added].map((kind) => [`${kind.group}/${kind.kind}`, kind]));
}
