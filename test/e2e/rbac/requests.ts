/** What it does, the method and path, and the body with its type. */
type Request = [does: string, method: string, path: string, body?: unknown, contentType?: string];

const REGISTRATION = '/apis/admissionregistration.k8s.io/v1';
const MUTATING = `${REGISTRATION}/mutatingwebhookconfigurations`;
const VALIDATING = `${REGISTRATION}/validatingwebhookconfigurations`;
const SECRETS = '/api/v1/namespaces/gpugate/secrets';
export const POLICIES = '/apis/gpugate.dev/v1alpha1/gpupolicies';
const CRDS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const own = (name: string) => `?fieldSelector=metadata.name%3D${name}`;
const secret = (name: string) => ({ apiVersion: 'v1', kind: 'Secret', metadata: { name }, data: {} });
const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'mine' } };
export const policy = { apiVersion: 'gpugate.dev/v1alpha1', kind: 'GpuPolicy', metadata: { name: 'mine' }, spec: {} };
const binding = {
  apiVersion: 'rbac.authorization.k8s.io/v1',
  kind: 'ClusterRoleBinding',
  metadata: { name: 'mine' },
  roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'cluster-admin' },
  subjects: [{ kind: 'ServiceAccount', name: 'gpugate', namespace: 'gpugate' }],
};
export const pod = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'mine' },
  spec: { containers: [{ name: 'a', image: 'x' }] },
};
const caBundle = (path: string) => [{ op: 'test', path: `${path}/failurePolicy`, value: 'Ignore' }];
const JSON_PATCH = 'application/json-patch+json';
export const MERGE_PATCH = 'application/merge-patch+json';

/** What the account of the replicas may do, since gpugate does it. */
export const WITHIN: readonly Request[] = [
  ['lists namespaces', 'GET', '/api/v1/namespaces'],
  ['reads a namespace', 'GET', '/api/v1/namespaces/team'],
  ['lists nodes', 'GET', '/api/v1/nodes'],
  ['lists policies', 'GET', POLICIES],
  ['lists quotas of all namespaces', 'GET', '/api/v1/resourcequotas'],
  ['lists limit ranges of all namespaces', 'GET', '/api/v1/limitranges'],
  ['lists runtime classes', 'GET', '/apis/node.k8s.io/v1/runtimeclasses'],
  ['lists device classes', 'GET', '/apis/resource.k8s.io/v1/deviceclasses'],
  ['reads its Secret', 'GET', `${SECRETS}/gpugate-certificates`],
  ['lists its Secret', 'GET', `${SECRETS}${own('gpugate-certificates')}`],
  ['watches its Secret', 'GET', `${SECRETS}${own('gpugate-certificates')}&watch=1&timeoutSeconds=1`],
  ['changes its Secret', 'PATCH', `${SECRETS}/gpugate-certificates`, { data: { a: 'Yg==' } }, MERGE_PATCH],
  ['creates a Secret in its namespace', 'POST', `${SECRETS}?dryRun=All`, secret('mine')],
  ['lists its mutating configuration', 'GET', `${MUTATING}${own('gpugate')}`],
  ['lists its validating configuration', 'GET', `${VALIDATING}${own('gpugate')}`],
  ['watches its configuration', 'GET', `${MUTATING}${own('gpugate')}&watch=1&timeoutSeconds=1`],
  ['changes its configuration', 'PATCH', `${MUTATING}/gpugate`, caBundle('/webhooks/0'), JSON_PATCH],
];

/** What it may not. */
export const BEYOND: readonly Request[] = [
  ['reads a node by name', 'GET', '/api/v1/nodes/a'],
  ['labels a namespace', 'PATCH', '/api/v1/namespaces/team', { metadata: { labels: { a: 'b' } } }, MERGE_PATCH],
  ['creates a namespace', 'POST', '/api/v1/namespaces', namespace],
  ['deletes a namespace', 'DELETE', '/api/v1/namespaces/team'],
  ['lists pods', 'GET', '/api/v1/pods'],
  ['creates a pod in its namespace', 'POST', '/api/v1/namespaces/gpugate/pods', pod],
  ['lists Secrets of its namespace', 'GET', SECRETS],
  ['reads another Secret', 'GET', `${SECRETS}/other`],
  ['replaces its Secret', 'PUT', `${SECRETS}/gpugate-certificates`, secret('gpugate-certificates')],
  ['deletes its Secret', 'DELETE', `${SECRETS}/gpugate-certificates`],
  ['creates a Secret elsewhere', 'POST', '/api/v1/namespaces/team/secrets', secret('mine')],
  ['lists Secrets of all namespaces', 'GET', '/api/v1/secrets'],
  ['reads ConfigMaps', 'GET', '/api/v1/namespaces/gpugate/configmaps'],
  ['changes a policy', 'PATCH', `${POLICIES}/mine`, { spec: { mode: 'audit' } }, MERGE_PATCH],
  ['creates a policy', 'POST', POLICIES, policy],
  ['deletes a policy', 'DELETE', `${POLICIES}/mine`],
  ['lists all configurations', 'GET', MUTATING],
  ['changes another configuration', 'PATCH', `${MUTATING}/other`, caBundle('/webhooks/0'), JSON_PATCH],
  ['deletes its configuration', 'DELETE', `${VALIDATING}/gpugate`],
  ['creates a configuration', 'POST', VALIDATING, { metadata: { name: 'mine' } }],
  ['binds itself to more', 'POST', '/apis/rbac.authorization.k8s.io/v1/clusterrolebindings', binding],
  ['takes the token of another account', 'POST', '/api/v1/namespaces/gpugate/serviceaccounts/default/token', {}],
  ['lists resources', 'GET', CRDS],
  ['changes its resource', 'PATCH', `${CRDS}/gpupolicies.gpugate.dev`, { spec: {} }, MERGE_PATCH],
  ['reads its Deployment', 'GET', '/apis/apps/v1/namespaces/gpugate/deployments/gpugate'],
];
