import type { NodeState } from '../cluster/node-state.ts';
import { gpuResource } from '../policy/resources.ts';

const CONFIG = 'nvidia.com/mig.config';
const STATE = 'nvidia.com/mig.config.state';

/** A node whose MIG layout is not, or not yet, what its label asks for. */
export interface Layout {
  readonly node: NodeState;
  readonly config: string;
  /** `pending`, `rebooting` or `failed`, as the MIG manager of the GPU operator labels it. */
  readonly state: string;
}

/** Nodes that would offer the resource, or might, once their layout is there. */
export function layoutsUnderWay(nodes: readonly NodeState[], resource: string): readonly Layout[] {
  const profile = gpuResource(resource)?.profile;
  return nodes.flatMap((node) => {
    const { [CONFIG]: config = '', [STATE]: state = 'success' } = node.labels;
    if (state === 'success' || state === '') return [];
    const single = node.labels['nvidia.com/mig.strategy'] === 'single';
    return mayBring(config, profile, single) ? [{ node, config, state }] : [];
  });
}

/**
 * `all-1g.10gb` brings 1g.10gb and nothing else, under the single strategy as nvidia.com/gpu; `all-disabled` brings whole GPUs;
 * what other layouts bring is not in their name.
 */
function mayBring(config: string, profile: string | undefined, single: boolean): boolean {
  const [, only] = /^all-(\d.*)$/.exec(config) ?? [];
  if (config === 'all-disabled') return profile === undefined;
  return only === undefined || (profile === undefined ? single : only === profile);
}
