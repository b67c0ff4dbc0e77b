import { counted, type Facts, hasEnded, hasNoNode, listed } from './facts.ts';
import { whyDown } from './on-node.ts';
import type { Seen } from './result.ts';
import { wishesOf } from './where.ts';

const STATE = 'nvidia.com/mig.config.state';

/** Layer 3: the nodes that selector and affinity let the pod go to, and MIG layouts that are not there yet. */
export function nodeLabels(facts: Facts): Seen {
  const { nodes, reachable, view } = facts;
  if (nodes === undefined) {
    return { seen: ['nodes may not be listed by you'], unknown: true, next: 'kubectl auth can-i list nodes' };
  }
  const { every, anyOf } = wishesOf(facts);
  const wishes = every.length + anyOf.length;
  const names = listed(reachable.map(({ name }) => name));
  if (view.nodeName !== undefined) return onNode(facts, view.nodeName);
  const where =
    wishes === 0
      ? `any of ${counted(nodes.length, 'node')}: no node selector, no required affinity`
      : `selector and affinity let it go to ${reachable.length} of ${counted(nodes.length, 'node')}${names === '' ? '' : `: ${names}`}`;
  const layouts = reachable
    .filter(({ labels }) => (labels[STATE] ?? 'success') !== 'success')
    .map(({ name, labels }) => `MIG layout of ${name}: ${labels[STATE]}`);
  return {
    seen: [where, ...layouts],
    problem: reachable.length === 0 && (hasNoNode(facts) || facts.state === 'idle'),
    unknown: reachable.length === 0,
    next: 'kubectl get nodes -L nvidia.com/gpu.product,nvidia.com/mig.config.state',
  };
}

function onNode(facts: Facts, node: string): Seen {
  const { state, nodes = [] } = facts;
  if (hasEnded(facts)) return { seen: [`was on node ${node}`] };
  const next = `kubectl describe node ${node}`;
  if (!nodes.some(({ name }) => name === node))
    return { seen: [`there is no node ${node}`], problem: state === 'starting', unknown: true, next };
  const down = whyDown(facts);
  if (down === undefined) return { seen: [`is on node ${node}`] };
  return {
    seen: [`is on node ${node}, which is not ready: ${down}`],
    problem: state === 'starting',
    unknown: true,
    next,
  };
}
