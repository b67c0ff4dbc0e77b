import type { PolicyProblem } from './policy.ts';
import { DEFAULT_POLICY, type PolicySet, resolvePolicy } from './resolve.ts';
import { isBroken } from './stored.ts';

type Labels = Readonly<Record<string, string>>;

/** Which namespaces each policy serves, and what is wrong: what status, metrics and warnings speak of. */
export interface Census {
  /** Names of the namespaces that a policy serves, sorted, for every policy that is known. */
  readonly served: ReadonlyMap<string, readonly string[]>;
  /** Policies that namespaces name and nobody knows, with those namespaces. */
  readonly missing: ReadonlyMap<string, readonly string[]>;
  /** The first problem of each policy that has one: its own, else of a namespace's labels. */
  readonly problems: ReadonlyMap<string, string>;
}

const POLICY = 'gpugate.dev/policy';

/** The policy that a namespace would be served by, known or not. */
export function policyNameOf(labels: Labels): string {
  return labels[POLICY] || DEFAULT_POLICY;
}

/** Counts. The result is the same in any order of policies and namespaces. */
export function takeCensus(
  policies: PolicySet,
  namespaces: ReadonlyMap<string, Labels>,
  excluded: readonly string[] = [],
): Census {
  const served = new Map<string, string[]>(Array.from(policies.keys(), (name) => [name, []]));
  const missing = new Map<string, string[]>();
  const problems = new Map<string, string>();
  const second = new Map<string, string>();
  for (const [name, policy] of policies) {
    if (isBroken(policy))
      problems.set(name, policy.problems.map(({ field, message }) => `${field} ${message}`).join('; '));
  }
  for (const namespace of [...namespaces.keys()].sort()) {
    const labels = namespaces.get(namespace) ?? {};
    const name = policyNameOf(labels);
    if (excluded.includes(namespace)) continue;
    const at = served.get(name);
    if (!at) {
      if (labels[POLICY]) missing.set(name, [...(missing.get(name) ?? []), namespace]);
      continue;
    }
    at.push(namespace);
    const effective = resolvePolicy(labels, policies);
    const [problem] = effective.problems;
    const [warning] = effective.warnings;
    if (problem && !problems.has(name)) problems.set(name, told(namespace, problem));
    if (warning && !second.has(name)) second.set(name, told(namespace, warning));
  }
  return { served, missing, problems: new Map([...second, ...problems]) };
}

function told(namespace: string, { where, value, message }: PolicyProblem): string {
  return `namespace ${namespace}: ${where}${value === undefined ? '' : ` is "${value}", which`} ${message}`;
}
