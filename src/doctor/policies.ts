import type { KubernetesObject } from '../cluster/store.ts';
import { takeCensus } from '../policy/census.ts';
import type { PolicySet } from '../policy/resolve.ts';
import type { PolicyStatus } from '../policy/status.ts';
import { isBroken } from '../policy/stored.ts';
import type { DoctorInput } from './input.ts';
import { ok, problem, type Said, unknown, warning } from './result.ts';

const MOST = 5;

/** Policies that are not understood, that no gpugate has looked at, and namespaces whose labels name or say what is not known. */
export function policies({ policies: read, namespaces, excludedNamespaces }: DoctorInput): readonly Said[] {
  if (read.state === 'forbidden') return [unknown('GpuPolicies may not be listed by you')];
  if (read.state === 'absent') return [unknown('GpuPolicy is not installed')];
  const { set, objects } = read.value;
  const said: Said[] = [];
  for (const policy of set.values()) {
    if (!isBroken(policy)) continue;
    const { name } = policy.metadata;
    const text = policy.problems.map(({ field, message }) => `${field} ${message}`).join('; ');
    said.push(
      problem(
        `GpuPolicy ${name} is not understood, so GPU pods of its namespaces are refused: ${text}`,
        `kubectl edit gpupolicy ${name}`,
      ),
    );
  }
  said.push(...objects.flatMap((object) => behind(object, set)));
  if (namespaces.state !== 'read') said.push(unknown('namespaces may not be listed by you'));
  else {
    const { missing, problems } = takeCensus(set, namespaces.value, excludedNamespaces);
    for (const [name, where] of missing) {
      const names =
        where.length > MOST ? `${where.slice(0, MOST).join(', ')} and ${where.length - MOST} more` : where.join(', ');
      said.push(
        problem(
          `no GpuPolicy is called ${name}, which ${names} ${where.length === 1 ? 'names' : 'name'}: GPU pods there are refused`,
          'kubectl get gpupolicies',
        ),
      );
    }
    for (const [name, text] of problems) {
      const policy = set.get(name);
      if (policy && !isBroken(policy))
        said.push(warning(text, `gpugate explain namespace ${/^namespace ([^:]+):/.exec(text)?.[1] ?? ''}`.trim()));
    }
  }
  return said.length > 0
    ? said
    : [ok(`${set.size} ${set.size === 1 ? 'policy is' : 'policies are'} understood and looked at by gpugate`)];
}

/** What gpugate writes into the status tells whether a replica that runs has seen the policy, and this version of it. */
function behind(object: KubernetesObject, set: PolicySet): readonly Said[] {
  const { metadata, status = {} } = object as KubernetesObject & {
    metadata: { generation?: number };
    status?: PolicyStatus;
  };
  const ready = status.conditions?.find(({ type }) => type === 'Ready');
  const next = `kubectl describe gpupolicy ${metadata.name}`;
  if (!ready) {
    return [
      problem(
        `GpuPolicy ${metadata.name} has no status: no gpugate has looked at it`,
        'kubectl get pods -A -l app.kubernetes.io/name=gpugate',
      ),
    ];
  }
  if ((status.observedGeneration ?? 0) < (metadata.generation ?? 0)) {
    return [problem(`GpuPolicy ${metadata.name} was changed, and no gpugate has looked at it since`, next)];
  }
  const own = set.get(String(metadata.name));
  if (ready.status !== 'True' && own && !isBroken(own)) {
    const text = `this gpugate understands GpuPolicy ${metadata.name}, and the one that runs does not: ${ready.message}`;
    return [problem(text, next)];
  }
  return [];
}
