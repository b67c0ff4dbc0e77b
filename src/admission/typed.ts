import { asArray, asObject } from './pod.ts';
import { quantityFromJson, roundedToMilli } from './quantity.ts';
import { shown } from './shown.ts';

const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration';
const LISTS = ['initContainers', 'containers'];

/**
 * The spelling that the user typed for a resource, by container name. `kubectl apply` keeps it in an annotation, while
 * the object has been normalised (0.5 became 500m). It changes wording only, and only where it rounds to the same value.
 */
export type TypedValues = (
  container: string,
  list: 'limits' | 'requests',
  resource: string,
  decoded: unknown,
) => string | undefined;

export function typedValues(object: unknown, path: readonly (string | number)[]): TypedValues {
  const annotations = asObject(asObject(asObject(object)?.metadata)?.annotations);
  const pod = at(parsed(annotations?.[LAST_APPLIED]), path);
  const spec = asObject(asObject(pod)?.spec) ?? {};
  const containers = LISTS.flatMap((list) => asArray(spec[list])).map(asObject);
  return (container, list, resource, decoded) => {
    const found = containers.find((candidate) => candidate?.name === container);
    const value = asObject(asObject(found?.resources)?.[list])?.[resource];
    const typed = quantityFromJson(value);
    const actual = quantityFromJson(decoded);
    if (!typed || !actual || roundedToMilli(typed) !== roundedToMilli(actual)) return undefined;
    return shown(value);
  };
}

function parsed(text: unknown): unknown {
  if (typeof text !== 'string') return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function at(value: unknown, path: readonly (string | number)[]): unknown {
  return path.reduce<unknown>((here, part) => (here as JsonIndex | undefined)?.[part], value);
}

type JsonIndex = Readonly<Record<string | number, unknown>>;
