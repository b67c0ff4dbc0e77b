import { decide } from '../admission/decide.ts';
import { evaluate } from '../admission/evaluate.ts';
import type { Change } from '../admission/findings.ts';
import type { NodeInfo } from '../admission/snapshot.ts';
import { type PolicySet, resolvePolicy } from '../policy/resolve.ts';
import { WHOLE_GPU } from '../policy/resources.ts';
import { API_VERSION } from '../policy/schema.ts';
import type { Probe } from './input.ts';

/** What the probes are chosen by; what is not known is empty. */
export interface Choice {
  readonly namespaces: ReadonlyMap<string, Readonly<Record<string, string>>>;
  readonly policies: PolicySet;
  readonly nodes: readonly NodeInfo[];
  readonly excluded: readonly string[];
  /** The only namespace in which pods may be tried. */
  readonly only?: string | undefined;
}

export interface Chosen {
  readonly probes: readonly Probe[];
  readonly noChange?: string;
}

const NAME = 'gpugate-doctor';

/**
 * The dry runs: a GpuPolicy and a pod that must be refused, a pod that must be changed where the policy of some namespace
 * changes one, and a pod that must pass. Nothing of them is ever stored. A pod with a whole GPU in a namespace that names a
 * policy tells most: there a call that fails is an error with its cause, not let by.
 */
export function chooseProbes(choice: Choice): Chosen {
  const { only, excluded } = choice;
  const open = [...choice.namespaces].filter(
    ([name]) => !excluded.includes(name) && (only === undefined || name === only),
  );
  const changes = open.flatMap((each) => changeIn(each, choice));
  const change = changes.find(({ expects }) => expects && expects.length > 0);
  const judged = change ?? changes[0];
  const quiet = open.filter(([, labels]) => labels[VISIBLE] !== 'void').map(([name]) => name);
  const passing = only ?? (quiet.includes('default') ? 'default' : quiet[0]) ?? 'default';
  const refusing = only ?? judged?.namespace ?? passing;
  return {
    probes: [
      REFUSED_POLICY,
      podProbe('a pod to refuse', refusing, pod({ [WHOLE_GPU]: '500m' })),
      ...(judged ? [judged] : []),
      podProbe('a pod to pass', passing, pod({})),
    ],
    ...(change ? {} : { noChange: 'no namespace has a policy that changes a pod with one GPU' }),
  };
}

/** Every pod of such a namespace is changed. */
const VISIBLE = 'gpugate.dev/visible-devices';

/** The CRD takes it, since the boards are known to gpugate alone; every call of its entry that fails is an error. */
const REFUSED_POLICY: Probe = {
  name: 'a GpuPolicy to refuse',
  path: `/apis/${API_VERSION}/gpupolicies`,
  object: {
    apiVersion: API_VERSION,
    kind: 'GpuPolicy',
    metadata: { name: NAME },
    spec: { sharing: 'mig', mig: { profile: '9g.999gb' } },
  },
};

/** A pod with one GPU in a namespace that names a policy, and what the policy makes of it. */
function changeIn(
  [namespace, labels]: readonly [string, Readonly<Record<string, string>>],
  { policies, nodes }: Choice,
): readonly Probe[] {
  const policy = resolvePolicy(labels, policies);
  if (!labels['gpugate.dev/policy'] || policy.mode !== 'enforce' || policy.problems.length > 0) return [];
  const object = pod({ [WHOLE_GPU]: '1' });
  const request = { pod: object, path: [], kind: 'Pod' };
  const { allowed, changes } = decide(evaluate(request, policy, { nodes, gpuResources: [] }), policy, 'mutate');
  if (!allowed) return [];
  const expects = expected(changes);
  const name = expects.length > 0 ? 'a pod to change' : 'a pod to judge';
  return [{ ...podProbe(name, namespace, object), expects }];
}

/** A cap depends on nodes that may have changed meanwhile; names and tolerations do not. */
function expected(changes: readonly Change[]): NonNullable<Probe['expects']> {
  return changes.flatMap((change) => {
    if (change.type === 'rename-resource') {
      const name = change.to.replaceAll('~', '~0').replaceAll('/', '~1');
      return [{ path: `/spec/containers/0/resources/limits/${name}`, value: '1' }];
    }
    return change.type === 'add-toleration' ? [{ path: '/spec/tolerations', value: change.toleration.key }] : [];
  });
}

function podProbe(name: Probe['name'], namespace: string, object: object): Probe {
  return { name, namespace, path: `/api/v1/namespaces/${namespace}/pods`, object };
}

/** Restricted as Pod Security wants it, with requests for quotas, so that only gpugate has a reason to refuse it. */
function pod(gpus: Readonly<Record<string, string>>): object {
  const resources = { cpu: '1m', memory: '1Mi' };
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: NAME },
    spec: {
      automountServiceAccountToken: false,
      securityContext: { runAsNonRoot: true, runAsUser: 65532, seccompProfile: { type: 'RuntimeDefault' } },
      containers: [
        {
          name: 'c',
          image: 'gpugate.dev/never-pulled:1',
          resources: { requests: resources, limits: { ...resources, ...gpus } },
          securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } },
        },
      ],
    },
  };
}
