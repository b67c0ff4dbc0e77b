import { asObject } from './pod.ts';

export const ORIGINAL = 'gpugate.dev/original';
export const POLICY = 'gpugate.dev/policy';

/**
 * The GPU requests before a rename, by container name: `{"train":{"nvidia.com/gpu":"1"}}`. It comes from an annotation,
 * so it grants nothing: it only lets an old name be dropped beside the new one.
 */
export type Originals = ReadonlyMap<string, ReadonlyMap<string, string>>;

const NONE: Originals = new Map();

export function readOriginals(annotations: ReadonlyMap<string, string>): Originals {
  const text = annotations.get(ORIGINAL);
  if (text === undefined) return NONE;
  const originals = new Map<string, ReadonlyMap<string, string>>();
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch {
    return originals;
  }
  for (const [container, resources] of Object.entries(asObject(parsed) ?? {})) {
    const quantities = Object.entries(asObject(resources) ?? {}).filter(
      (entry): entry is [string, string] => typeof entry[1] === 'string',
    );
    originals.set(container, new Map(quantities));
  }
  return originals;
}

/** The annotation's text: compact JSON with sorted keys, so that every round writes the same. */
export function writeOriginals(originals: Originals): string {
  const sorted = (map: ReadonlyMap<string, unknown>) => [...map.keys()].sort();
  const entries = sorted(originals).map((container) => {
    const resources = originals.get(container) ?? new Map<string, string>();
    const pairs = sorted(resources).map((name) => `${JSON.stringify(name)}:${JSON.stringify(resources.get(name))}`);
    return `${JSON.stringify(container)}:{${pairs.join(',')}}`;
  });
  return `{${entries.join(',')}}`;
}
