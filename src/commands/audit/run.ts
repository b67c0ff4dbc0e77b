import { asArray, asObject } from '../../admission/pod.ts';
import type { Snapshot } from '../../admission/snapshot.ts';
import type { TemplateKind, TemplateKinds } from '../../admission/template-kinds.ts';
import { hasController } from '../../admission/templates.ts';
import { countCodes, createCollection } from '../../audit/collect.ts';
import { controllerOf, isJudged, judgeNamespace, judgePod, judgeWorkload, type Owner } from '../../audit/judge.ts';
import { nodeNotices } from '../../audit/nodes.ts';
import type { Audit, Judged } from '../../audit/result.ts';
import type { ApiClient } from '../../cluster/client.ts';
import { listPages } from '../../cluster/listwatch.ts';
import { nodeState } from '../../cluster/node-state.ts';
import { all, optional } from '../../cluster/read.ts';
import type { KubernetesObject } from '../../cluster/store.ts';
import { type EffectivePolicy, NO_POLICY } from '../../policy/policy.ts';
import { resolvePolicy } from '../../policy/resolve.ts';
import { isBroken } from '../../policy/stored.ts';
import { excludedNamespace, type Notice } from '../../report/result.ts';
import { EXIT, failure } from '../exit.ts';
import type { Known } from '../review/known.ts';
import { knownOfCluster } from '../review/live.ts';

export interface AuditOptions {
  readonly version: string;
  readonly namespace?: string | undefined;
  readonly excludedNamespaces: readonly string[];
  readonly gpuResources: readonly string[];
  readonly templateKinds: TemplateKinds;
  /** Told after every page: how many pods were judged, and how many are left where the API server says so. */
  readonly onProgress: (done: number, left: number | undefined) => void;
}

/**
 * Judges what lives in a cluster by today's policies. Reads only. Pods and workloads come page by page and are forgotten after they
 * were judged; what is kept grows with the owners that something is said of.
 */
export async function auditCluster(client: ApiClient, options: AuditOptions, signal: AbortSignal): Promise<Audit> {
  const { namespace, excludedNamespaces } = options;
  const known = await knownOfCluster(client, signal);
  if (namespace !== undefined && !known.namespaces.has(namespace)) {
    throw failure(EXIT.input, `namespaces "${namespace}" not found`);
  }
  const world = worldOf(known, options);
  const collection = createCollection();
  const notices: Notice[] = [];
  if (namespace !== undefined && excludedNamespaces.includes(namespace)) notices.push(excludedNamespace(namespace));
  const covered = (name: string) =>
    (namespace === undefined || name === namespace) && !excludedNamespaces.includes(name);
  const names = [...known.namespaces.keys()].filter(covered);
  const judged = { pods: 0, workloads: 0, namespaces: names.length, policies: 0, nodes: 0 } satisfies Judged;

  for (const name of names) {
    const policy = world.policyOf(name);
    const object = { apiVersion: 'v1', kind: 'Namespace', name };
    collection.object(object, undefined, policy, judgeNamespace(policy, world.snapshotOf(name, policy)));
  }
  if (namespace === undefined) {
    judged.policies = known.policies.size;
    for (const policy of known.policies.values()) {
      if (!isBroken(policy)) continue;
      const object = { apiVersion: 'gpugate.dev/v1alpha1', kind: 'GpuPolicy', name: policy.metadata.name };
      const fix = `Correct it: kubectl edit gpupolicy ${policy.metadata.name}.`;
      const level = policy.mode === undefined || policy.mode === 'enforce' ? 'error' : 'warning';
      const told = policy.problems.map((problem) => ({ ...problem, level, fix }) as const);
      collection.object(object, undefined, undefined, told);
    }
    const nodes = await all(client, '/api/v1/nodes', signal);
    judged.nodes = nodes.length;
    const told = nodes.flatMap((node) => nodeNotices(nodeState(node), options.gpuResources));
    notices.push(...told.map((message) => ({ message })));
  }

  /** By uid, who controls what controls a pod: a Deployment its ReplicaSet, a CronJob its Job. */
  const above = new Map<string, Owner>();
  for (const kind of options.templateKinds.values()) {
    const paths = await pathsOf(client, kind, namespace, signal);
    for (const { path, apiVersion } of paths) {
      for await (const page of listPages(client, path, signal)) {
        for (const object of page.items) {
          const owner = controllerOf(object);
          const { uid, name = '', namespace: at = '' } = (object.metadata ?? {}) as Metadata;
          if (owner && uid) above.set(uid, owner);
          if (hasController(object) || !covered(at)) continue;
          judged.workloads += 1;
          const policy = world.policyOf(at);
          const told = judgeWorkload(object, kind, policy, world.snapshotOf(at, policy));
          collection.object({ apiVersion, kind: kind.kind, name, ...(uid ? { uid } : {}) }, at, policy, told);
        }
      }
    }
  }
  for await (const page of listPages(client, inNamespace('/api/v1', 'pods', namespace), signal)) {
    for (const pod of page.items) {
      const { name = '', namespace: at = '' } = pod.metadata ?? {};
      if (!covered(at) || !isJudged(pod)) continue;
      judged.pods += 1;
      const policy = world.policyOf(at);
      const owner = controllerOf(pod);
      const top = owner && (above.get(owner.uid) ?? owner);
      collection.pod(name, top, at, policy, judgePod(pod, policy, world.snapshotOf(at, policy)));
    }
    options.onProgress(judged.pods, page.remaining);
  }
  const objects = collection.objects();
  return {
    command: 'audit',
    version: options.version,
    time: new Date().toISOString(),
    ...(namespace === undefined ? {} : { namespace }),
    judged,
    objects,
    codes: countCodes(objects),
    notices,
    unreadable: [],
  };
}

type Metadata = NonNullable<KubernetesObject['metadata']> & { readonly uid?: string };

/** The policy and the snapshot of each namespace, made once. */
function worldOf(known: Known, { gpuResources }: AuditOptions) {
  const policies = new Map<string, EffectivePolicy>();
  const snapshots = new Map<string, Snapshot>();
  return {
    policyOf(namespace: string): EffectivePolicy {
      const labels = known.namespaces.get(namespace);
      const policy = policies.get(namespace) ?? (labels ? resolvePolicy(labels, known.policies) : NO_POLICY);
      policies.set(namespace, policy);
      return policy;
    },
    snapshotOf(namespace: string, policy: EffectivePolicy): Snapshot {
      const kept = snapshots.get(namespace);
      if (kept) return kept;
      const base = { nodes: known.nodes, gpuResources };
      const snapshot = policy.governed
        ? {
            ...base,
            deviceClassResources: known.deviceClasses,
            runtimeClasses: known.runtimeClasses,
            limits: known.limits?.filter((limit) => limit.namespace === namespace),
          }
        : base;
      snapshots.set(namespace, snapshot);
      return snapshot;
    },
  };
}

function inNamespace(base: string, plural: string, namespace: string | undefined): string {
  return namespace === undefined
    ? `${base}/${plural}`
    : `${base}/namespaces/${encodeURIComponent(namespace)}/${plural}`;
}

/** Where the objects of a kind are listed; nowhere for a custom resource that is not installed. */
async function pathsOf(
  client: ApiClient,
  { group, plural, builtIn }: TemplateKind,
  namespace: string | undefined,
  signal: AbortSignal,
): Promise<readonly { readonly path: string; readonly apiVersion: string }[]> {
  const at = (version: string) => {
    const base = group === '' ? `/api/${version}` : `/apis/${group}/${version}`;
    return { path: inNamespace(base, plural, namespace), apiVersion: group === '' ? version : `${group}/${version}` };
  };
  if (builtIn) return [at('v1')];
  const found = await optional(() => client.get(`/apis/${group}`, {}, signal));
  const version = asObject(asObject(found)?.preferredVersion)?.version;
  if (typeof version !== 'string') return [];
  const served = await optional(() => client.get(`/apis/${group}/${version}`, {}, signal));
  const resources = asArray(asObject(served)?.resources).map((each) => asObject(each)?.name);
  return resources.includes(plural) ? [at(version)] : [];
}
