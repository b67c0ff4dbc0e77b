import { asArray, asObject } from '../admission/pod.ts';
import type { NodeState } from '../cluster/node-state.ts';
import { type Facts, kubectl, listed, unitsIn } from './facts.ts';
import type { Reason, ReasonCode, Seen } from './result.ts';
import { NO_HANDLER } from './runtime-class.ts';
import { stackLines } from './stack.ts';

const DRIVER = 'nvidia.com/cuda.driver-version.full';
const NVIDIA = /nvidia|nvml|cuda|libcuda|device plugin|cdi/i;

/** Layer 6: driver and hardware, as far as labels, capacity and conditions of nodes and events of the pod tell. */
export function hardware(facts: Facts): Seen {
  const { nodes, needs, view, reachable } = facts;
  const reasons = containerStart(facts);
  if (needs.size === 0 && (facts.claimed.length > 0 || facts.hasClaims)) {
    const seen = ['what a resource claim brings can not be seen on nodes'];
    return { seen, reasons, unknown: reasons.length === 0, next: kubectl('get resourceclaims', facts.namespace) };
  }
  if (needs.size === 0 && reasons.length === 0) return { seen: ['no GPU is asked for'] };
  if (nodes === undefined) return { seen: ['nodes may not be listed by you'], reasons, unknown: reasons.length === 0 };
  const looked = reachable.filter((node) => [...needs.keys()].some((name) => Object.hasOwn(node.capacity, name)));
  if (looked.length === 0) {
    const none = view.nodeName === undefined ? 'no node that it may go to has' : `node ${view.nodeName} has none of`;
    const seen = [`${none} its GPUs, so no driver was looked at`];
    return { seen, reasons, unknown: reasons.length === 0, next: 'kubectl get nodes' };
  }
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
  if (state !== 'starting' && state !== 'running') return [];
  const next = kubectl(`describe ${subject}`, namespace);
  const waiting = [...asArray(status.initContainerStatuses), ...asArray(status.containerStatuses)].flatMap((item) => {
    const container = asObject(item);
    const { reason, message } = asObject(asObject(container?.state)?.waiting) ?? {};
    const { exitCode, reason: end } = asObject(asObject(container?.lastState)?.terminated) ?? {};
    const last =
      exitCode === undefined ? '' : ` (it ended with ${exitCode}${typeof end === 'string' ? `, ${end}` : ''})`;
    return typeof reason === 'string'
      ? [{ name: String(container?.name), reason, message: String(message ?? ''), last }]
      : [];
  });
  const stuck = waiting.filter(({ reason }) => reason !== 'ContainerCreating' && reason !== 'PodInitializing');
  const reasons = stuck.map(({ name, reason, message, last }): Reason => {
    const text = `container "${name}" waits: ${reason}${message === '' ? '' : `: ${message}`}${last}`;
    const log = reason === 'CrashLoopBackOff' ? kubectl(`logs ${subject} -c ${name} --previous`, namespace) : next;
    return { code: waitCode(reason, message), text, next: log };
  });
  if (state === 'running') return reasons;
  const failed = events.findLast(
    ({ reason, message }) =>
      /^Failed(CreatePodSandBox)?$/.test(reason) && NVIDIA.test(message) && !NO_HANDLER.test(message),
  );
  if (failed && reasons.length === 0) reasons.push({ code: 'container-start', text: failed.message, next });
  return reasons;
}

/** What a container waits for. Why one crashes, whether for its GPU or not, only its log knows. */
function waitCode(reason: string, message: string): ReasonCode {
  if (/^(ErrImage|ImagePull|InvalidImageName)/.test(reason)) return 'image';
  if (NVIDIA.test(message)) return 'container-start';
  return reason === 'CreateContainerConfigError' ? 'container-config' : 'container';
}
