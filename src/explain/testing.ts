import { NO_POLICY } from '../policy/policy.ts';
import type { ExplainInput } from './input.ts';

/** A pod in a cluster of which nothing is known, but for what is given. */
export function anInput(given: Partial<ExplainInput>): ExplainInput {
  return {
    pod: {},
    subject: 'pod/p',
    namespace: 'team-a',
    exists: true,
    excluded: false,
    claims: undefined,
    events: [],
    policy: NO_POLICY,
    nodes: [],
    holders: [],
    holdersOfNamespaceOnly: false,
    stack: [],
    quotas: [],
    runtimeClasses: undefined,
    deviceClassResources: undefined,
    gpuResources: [],
    ...given,
  };
}
