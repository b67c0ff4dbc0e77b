import { gpuResource } from '../policy/resources.ts';
import { type Facts, kubectl, listed, unitsIn } from './facts.ts';
import type { Reason } from './result.ts';

/** Why the API server refuses the pods of a workload: what its controller reports as FailedCreate. */
export function refusalReasons(facts: Facts): readonly Reason[] {
  const messages = facts.events.filter(({ reason }) => reason === 'FailedCreate').map(({ message }) => message);
  const last = messages.at(-1);
  return last === undefined ? [] : [refusal(facts, last)];
}

/** One refusal, as controllers quote the API server: `Error creating: pods "x" is forbidden: exceeded quota: ...`. */
function refusal(facts: Facts, message: string): Reason {
  const next = kubectl(`describe ${facts.subject}`, facts.namespace);
  const text = message.replace(/^(Error creating: |create Pod \S+ in StatefulSet \S+ failed error: )/, '').trim();
  const [, quota, rest = ''] = /exceeded quota: ([^,]+), (.*)$/s.exec(text) ?? [];
  if (quota !== undefined) return quotaReason(facts, quota, rest);
  const [, webhook] = /admission webhook "([^"]+)" denied the request/.exec(text) ?? [];
  if (webhook?.endsWith('.gpugate.dev')) {
    const said = text.slice(text.indexOf('gpugate: '));
    return { code: 'refused-by-gpugate', text: `gpugate refuses the pod: ${flat(said)}`, next };
  }
  const [, failing] = /failed calling webhook "([^"]+)"/.exec(text) ?? [];
  if (failing?.endsWith('.gpugate.dev')) {
    return { code: 'gpugate-unreachable', text: `gpugate could not be asked (${failing})`, next: 'gpugate doctor' };
  }
  if (webhook !== undefined || failing !== undefined || /violates PodSecurity/.test(text)) {
    return { code: 'refused-by-policy', text: `another admission check refuses the pod: ${flat(text)}`, next };
  }
  if (/RuntimeClass .*not found/i.test(text)) {
    return { code: 'runtime-class', text: flat(text), next: 'kubectl get runtimeclasses' };
  }
  return { code: 'refused-by-api-server', text: `the API server refuses the pod: ${flat(text)}`, next };
}

function quotaReason(facts: Facts, quota: string, rest: string): Reason {
  const [, requested = ''] = /requested: ([^ ]+)/.exec(rest) ?? [];
  const names = requested.split(',').map((part) => part.split('=')[0]?.replace(/^requests\./, '') ?? '');
  const gpu = names.find((name) => gpuResource(name, facts.gpuResources));
  const by = (facts.holders ?? [])
    .filter(({ namespace, units }) => gpu !== undefined && namespace === facts.namespace && units.has(gpu))
    .map(({ name, units }) => `${name} (${units.get(gpu ?? '')})`);
  const holders = by.length === 0 ? '' : `; held by ${listed(by)}`;
  return {
    code: gpu === undefined ? 'other-quota' : 'quota',
    text: `the quota ${quota} is used up: ${rest}${holders}`,
    next: kubectl(`describe quota ${quota}`, facts.namespace),
  };
}

/** How full the quotas are that count the pod's GPUs. */
export function quotaLines({ quotas = [], needs }: Facts): readonly string[] {
  return quotas.flatMap(({ name, hard, used }) =>
    [...needs.keys()]
      .map((resource) => `requests.${resource}`)
      .filter((key) => Object.hasOwn(hard, key))
      .map((key) => `quota ${name}: ${unitsIn(used, key)} of ${hard[key]} ${key} used`),
  );
}

function flat(text: string): string {
  return text.replace(/\s+/g, ' ').trim();
}
