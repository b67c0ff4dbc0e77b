import { webhooksOf } from './certificates.ts';
import type { DoctorInput, ServiceState } from './input.ts';
import { ok, problem, type Said, unknown, warning } from './result.ts';

/** The Service that the API server calls, the pods behind it, and what they run. */
export function service({ services, version, mutating, validating }: DoctorInput): readonly Said[] {
  if (services.length === 0) {
    const entries = [...webhooksOf(mutating), ...webhooksOf(validating)];
    if (entries.length > 0) return [ok('the entries call a URL, no Service of the cluster')];
    const hidden = mutating.state === 'forbidden' || validating.state === 'forbidden';
    return [
      unknown(
        hidden
          ? 'what the entries call may not be read by you'
          : 'no entry is registered, so the API server calls nothing',
      ),
    ];
  }
  return services.flatMap((state) => serviceSaid(state, version));
}

function serviceSaid(state: ServiceState, version: string): readonly Said[] {
  const { namespace, name, port, service: read, endpoints, pods } = state;
  const named = `Service ${namespace}/${name}`;
  if (read.state === 'absent') {
    return [problem(`${named} does not exist, and the API server calls it`, `kubectl get services -n ${namespace}`)];
  }
  const said: Said[] = [];
  if (read.state === 'forbidden') said.push(unknown(`${named} may not be read by you`));
  else if (!read.value.ports.includes(port)) {
    const text = `${named} has no port ${port}, which the API server calls; it has ${read.value.ports.join(', ')}`;
    said.push(problem(text, `kubectl get service ${name} -n ${namespace} -o yaml`));
  }
  if (endpoints.state === 'read') {
    const { ready, notReady } = endpoints.value;
    const next = `kubectl get pods -n ${namespace}`;
    if (ready === 0) said.push(problem(`no pod behind ${named} is ready`, next));
    else if (notReady > 0) said.push(warning(`${ready} pods behind ${named} are ready, ${notReady} are not`, next));
    else said.push(ok(`${ready} ${ready === 1 ? 'pod is' : 'pods are'} ready behind ${named}`));
  } else said.push(unknown(`endpoints of ${named} may not be read by you`));
  if (pods.state === 'read') said.push(...images(pods.value, version, namespace));
  return said;
}

function images(
  pods: readonly { readonly name: string; readonly image: string }[],
  version: string,
  namespace: string,
): readonly Said[] {
  const all = [...new Set(pods.map(({ image }) => image))].sort();
  const next = `kubectl get pods -n ${namespace} -o wide`;
  if (all.length > 1)
    return [warning(`the pods run different images, ${all.join(' and ')}: a rollout is under way, or stuck`, next)];
  const [image = ''] = all;
  const [, tag] = /:v?(\d+\.\d+\.\d+[^@]*)(?:@|$)/.exec(image) ?? [];
  if (tag !== undefined && tag !== version) {
    return [
      warning(
        `the pods run ${tag}, and this gpugate is ${version}: it compares with what it would register itself`,
        next,
      ),
    ];
  }
  return [];
}
