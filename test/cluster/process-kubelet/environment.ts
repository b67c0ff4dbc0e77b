import type {
  V1Container,
  V1EnvVar,
  V1ObjectFieldSelector,
  V1Pod,
  V1ResourceFieldSelector,
} from '@kubernetes/client-node';
import { parseQuantity } from '../../../src/admission/quantity.ts';
import type { Api } from '../api.ts';

/** Variables by name. */
export type Environment = Readonly<Record<string, string>>;

/** The variables of a container, resolved as a kubelet does, on top of `base`. Throws while an object it names is missing. */
export async function environmentOf(
  pod: V1Pod,
  address: string,
  container: V1Container,
  base: Environment,
  api: Api,
): Promise<Environment> {
  const env: Record<string, string> = { ...base };
  for (const source of container.envFrom ?? []) {
    const { configMapRef, secretRef, prefix = '' } = source;
    const ref = configMapRef ?? secretRef;
    if (ref?.name === undefined) continue;
    const data = await dataOf(api, pod, configMapRef ? 'configmaps' : 'secrets', ref.name, ref.optional);
    for (const [key, value] of Object.entries(data)) env[prefix + key] = value.toString();
  }
  for (const variable of container.env ?? []) {
    const value = await variableOf(
      { ...pod, status: { podIP: address, hostIP: '127.0.0.1' } },
      container,
      variable,
      api,
    );
    if (value !== undefined) env[variable.name] = expanded(value, env);
  }
  return env;
}

/** `$(NAME)` in a command, an argument or a value; `$$` is a dollar. What is unknown stays as it stands. */
export function expanded(text: string, env: Environment): string {
  return text.replaceAll(/\$(\$|\(([^)]*)\))/g, (whole, rest, name) => (rest === '$' ? '$' : (env[name] ?? whole)));
}

/** The content of a ConfigMap or Secret of the pod's namespace by key. Throws when it is missing, unless it is optional. */
export async function dataOf(
  api: Api,
  pod: V1Pod,
  kind: 'configmaps' | 'secrets',
  name: string,
  optional = false,
): Promise<Readonly<Record<string, Buffer>>> {
  const { code, body } = await api('GET', `/api/v1/namespaces/${pod.metadata?.namespace}/${kind}/${name}`);
  if (code === 404 && optional) return {};
  if (code !== 200) throw new Error(`${kind} ${name}: ${code} ${body?.message}`);
  const encoding = kind === 'secrets' ? 'base64' : 'utf8';
  const decoded = Object.entries<string>(body.data ?? {}).map(([key, text]) => [key, Buffer.from(text, encoding)]);
  return Object.fromEntries(decoded);
}

async function variableOf(
  pod: V1Pod,
  container: V1Container,
  variable: V1EnvVar,
  api: Api,
): Promise<string | undefined> {
  const { fieldRef, resourceFieldRef, secretKeyRef, configMapKeyRef } = variable.valueFrom ?? {};
  if (fieldRef) return fieldOf(pod, fieldRef);
  if (resourceFieldRef) return resourceOf(container, resourceFieldRef);
  const ref = secretKeyRef ?? configMapKeyRef;
  if (!ref?.name) return variable.value ?? '';
  const data = await dataOf(api, pod, secretKeyRef ? 'secrets' : 'configmaps', ref.name, ref.optional);
  const value = data[ref.key];
  if (value === undefined && !ref.optional) throw new Error(`${ref.name} has no key ${ref.key}`);
  return value?.toString();
}

/** A field for the downward API, such as `metadata.name`, `metadata.labels['app']` or `status.podIP`. */
export function fieldOf(pod: V1Pod, { fieldPath }: V1ObjectFieldSelector): string {
  const subscript = /^metadata\.(labels|annotations)\['(.+)'\]$/.exec(fieldPath);
  if (subscript) return pod.metadata?.[subscript[1] as 'labels' | 'annotations']?.[subscript[2] ?? ''] ?? '';
  const value = fieldPath.split('.').reduce<unknown>((at, key) => (at as Record<string, unknown>)?.[key], pod);
  if (typeof value !== 'string') throw new Error(`the process kubelet knows no field ${fieldPath}`);
  return value;
}

/** A resource for the downward API, in units of the divisor, rounded up. */
function resourceOf(container: V1Container, { resource, divisor }: V1ResourceFieldSelector): string {
  const [list, name = ''] = resource.split('.') as ['limits' | 'requests', string];
  const amount = parseQuantity(container.resources?.[list]?.[name] ?? '')?.nano;
  if (amount === undefined) throw new Error(`${container.name} has no ${resource}; its node's size is not modelled`);
  const unit = parseQuantity(divisor && divisor !== '0' ? divisor : '1')?.nano ?? 1n;
  return String((amount + unit - 1n) / unit);
}
