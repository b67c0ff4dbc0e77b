import { gpuResource } from '../policy/resources.ts';
import type { ReasonCode } from './result.ts';

/** One part of the message of a PodScheduled condition: `2 node(s) had untolerated taint(s)`. */
export interface SchedulerReason {
  /** Undefined where it is about the whole pod, before nodes are looked at. */
  readonly nodes?: number;
  readonly text: string;
  readonly code: ReasonCode;
}

/**
 * What the texts of the scheduler's plugins are about (k8s.io/kubernetes pkg/scheduler/framework/plugins: noderesources/fit.go,
 * tainttoleration, nodeunschedulable, nodeaffinity, interpodaffinity, podtopologyspread, nodeports, volume*, dynamicresources).
 */
const KINDS: readonly (readonly [RegExp, ReasonCode])[] = [
  [/untolerated taint/, 'taint'],
  [/were unschedulable/, 'cordoned'],
  [/node affinity\/selector|node selector|didn't match the requested node name/, 'node-selector'],
  [/pod affinity|pod anti-affinity|anti-affinity rules|topology spread|free ports/, 'other-pods'],
  [/resource ?claim|cannot allocate all claims|device class/i, 'claim'],
  [/persistent ?volume|volume|storageclass|storage/i, 'volume'],
  [/^Too many pods/, 'other-resource'],
];

/** Parses `0/6 nodes are available: 1 Insufficient cpu, 5 node(s) ... . preemption: ...`. What has another form is one reason. */
export function schedulerReasons(message: string, gpuResources: readonly string[] = []): readonly SchedulerReason[] {
  // Behind the reasons stands what preemption would bring.
  const [first = ''] = message.split(/\.\s/);
  const body = first.replace(/^\d+\/\d+ nodes are available: */, '').replace(/[.\s]+$/, '');
  if (body === '') return [];
  return body.split(/, (?=\d+ )/).map((part) => {
    const [, nodes, text = part] = /^(\d+) (.+)$/s.exec(part) ?? [];
    return { ...(nodes === undefined ? {} : { nodes: Number(nodes) }), text, code: codeOf(text, gpuResources) };
  });
}

function codeOf(text: string, gpuResources: readonly string[]): ReasonCode {
  const [, resource] = /^Insufficient (\S+)/.exec(text) ?? [];
  if (resource !== undefined) return gpuResource(resource, gpuResources) ? 'taken' : 'other-resource';
  return KINDS.find(([pattern]) => pattern.test(text))?.[1] ?? 'scheduler';
}
