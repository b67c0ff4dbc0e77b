import { type Facts, listed } from './facts.ts';

/** Parts of the GPU stack that bring resources, and those that bring drivers. */
const PARTS = {
  plugin: ['device-plugin', 'feature-discovery', 'mig-manager', 'mps-control'],
  driver: ['driver', 'container-toolkit', 'validator'],
} as const;

/** What is not well of the stack on the nodes that the pod may go to. */
export function stackLines({ stack, reachable }: Facts, of: keyof typeof PARTS): readonly string[] {
  const names = new Set(reachable.map(({ name }) => name));
  const parts: readonly string[] = PARTS[of];
  const unwell = stack.filter(({ part, node, ready }) => parts.includes(part) && names.has(node) && !ready);
  if (unwell.length === 0) return [];
  const told = unwell.map(
    ({ part, node, why, namespace, name }) => `${part} on ${node} (${namespace}/${name}: ${why})`,
  );
  return [`not ready: ${listed(told, 3)}`];
}
