import { asArray, asObject } from '../admission/pod.ts';
import type { NodeState } from '../cluster/node-state.ts';
import { type Facts, kubectl, listed, unitsIn } from './facts.ts';
import type { Reason, Seen } from './result.ts';
import { NO_HANDLER } from './runtime-class.ts';
import { stackLines } from './stack.ts';

const DRIVER = 'nvidia.com/cuda.driver-version.full';
const NVIDIA = /nvidia|nvml|cuda|libcuda|device plugin|cdi/i;

/** Layer 6: driver and hardware, as far as labels, capacity and conditions of nodes and events of the pod tell. */
export function hardware(facts: Facts): Seen {
  const { nodes, needs, view, reachable } = facts;
  const reasons = containerStart(facts);
  if (needs.size === 0 && reasons.length === 0) return { seen: ['no GPU is asked for'] };
  if (nodes === undefined) return { seen: ['nodes may not be listed by you'], reasons, unknown: reasons.length === 0 };
  const looked = reachable.filter((node) => [...needs.keys()].some((name) => Object.hasOwn(node.capacity, name)));
  const seen = [...unhealthy(looked, [...needs.keys()]), ...gpuConditions(looked), ...stackLines(facts, 'driver')];
  const next = `kubectl describe node ${view.nodeName ?? looked[0]?.name ?? ''}`.trimEnd();
  if (seen.length > 0) return { seen, reasons, unknown: reasons.length === 0, next };
  const drivers = [...new Set(looked.flatMap(({ labels }) => labels[DRIVER] ?? []))];
  if (drivers.length > 0) return { seen: [`driver ${listed(drivers)}; every GPU is healthy`], reasons };
  return {
    seen: ['no driver label on the nodes: feature discovery is not there, or not yet'],
    reasons,
    unknown: true,
    next,
  };
}

/** The kubelet counts unhealthy devices as capacity and not as allocatable (kubelet devicemanager GetCapacity). */
function unhealthy(nodes: readonly NodeState[], names: readonly string[]): readonly string[] {
  return nodes.flatMap(({ name: node, capacity, allocatable }) =>
    names.flatMap((name) => {
      const missing = unitsIn(capacity, name) - unitsIn(allocatable, name);
      return missing > 0n ? [`${missing} ${name} of ${node} ${missing === 1n ? 'is' : 'are'} unhealthy`] : [];
    }),
  );
}

/** Node problem detectors set conditions such as GPUHasXidError to True. */
function gpuConditions(nodes: readonly NodeState[]): readonly string[] {
  return nodes.flatMap(({ name, conditions }) =>
    conditions
      .filter(
        ({ type, status }) =>
          status === 'True' && /gpu|xid|nvlink|nvidia/i.test(type) && !/(ready|healthy)$/i.test(type),
      )
      .map(({ type, message }) => `node ${name}: ${type}${message === '' ? '' : ` (${message})`}`),
  );
}

/** On its node and not running: what its containers wait for. */
function containerStart({ state, status, events, subject, namespace }: Facts): readonly Reason[] {
  if (state !== 'starting') return [];
  const next = kubectl(`describe ${subject}`, namespace);
  const waiting = [...asArray(status.initContainerStatuses), ...asArray(status.containerStatuses)].flatMap((item) => {
    const container = asObject(item);
    const { reason, message } = asObject(asObject(container?.state)?.waiting) ?? {};
    return typeof reason === 'string'
      ? [{ name: String(container?.name), reason, message: String(message ?? '') }]
      : [];
  });
  const stuck = waiting.filter(({ reason }) => reason !== 'ContainerCreating' && reason !== 'PodInitializing');
  const reasons = stuck.map(({ name, reason, message }): Reason => {
    const text = `container "${name}" waits: ${reason}${message === '' ? '' : `: ${message}`}`;
    const image = /^(ErrImage|ImagePull|InvalidImageName|ErrImageNeverPull)/.test(reason);
    const gpu = NVIDIA.test(message);
    return { code: image ? 'image' : gpu ? 'container-start' : 'scheduler', text, next };
  });
  const failed = events.findLast(
    ({ reason, message }) =>
      /^Failed(CreatePodSandBox)?$/.test(reason) && NVIDIA.test(message) && !NO_HANDLER.test(message),
  );
  if (failed && reasons.length === 0) reasons.push({ code: 'container-start', text: failed.message, next });
  return reasons;
}
