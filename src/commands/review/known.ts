import type { z } from 'zod';
import { type Extras, extendedResourceName, type Limits, limitRangeOf, quotaOf } from '../../cluster/extras.ts';
import { namespaceSchema, nodeSchema } from '../../cluster/files.ts';
import type { ClusterSource, Labels, NodeInfo } from '../../cluster/source.ts';
import type { KubernetesObject } from '../../cluster/store.ts';
import { placeOfField, placeOfObject } from '../../manifests/places.ts';
import type { Manifest } from '../../manifests/read.ts';
import { fieldOf, mistakeText } from '../../policy/mistakes.ts';
import { parse } from '../../policy/parse.ts';
import type { PolicySet } from '../../policy/resolve.ts';
import { readStored } from '../../policy/stored.ts';
import type { Notice, Place } from '../../report/result.ts';

/** What pods are judged by, from wherever it comes. What is undefined is not known. */
export interface Known {
  readonly policies: PolicySet;
  readonly namespaces: ReadonlyMap<string, Labels>;
  readonly nodes: readonly NodeInfo[];
  readonly limits?: readonly Limits[] | undefined;
  readonly deviceClasses?: ReadonlySet<string> | undefined;
  readonly runtimeClasses?: ReadonlySet<string> | undefined;
}

/** Texts in which something stands that pods are judged by; others need not be read for it. */
export const MAY_HOLD_KNOWN =
  /\bkind["']?\s*:\s*["']?(\w*List|GpuPolicy|Namespace|Node|ResourceQuota|LimitRange|DeviceClass|RuntimeClass)\b/;

/** Takes in what manifests say, beside what was known before; of two with one name the later counts. */
export function gatherKnown(before: Known, namespaceOf: (manifest: Manifest) => string | undefined) {
  const policies = new Map(before.policies);
  const namespaces = new Map(before.namespaces);
  const nodes = new Map(before.nodes.map((node) => [node.name, node]));
  let { limits, deviceClasses, runtimeClasses } = before;
  const places = new Map<string, Place | undefined>();
  const notices: Notice[] = [];
  const unreadable: Notice[] = [];

  function read<T>(schema: z.ZodType<T>, { object, source }: Manifest): T | undefined {
    const result = parse(schema, object);
    if (result.success) return result.data;
    for (const mistake of result.mistakes) {
      unreadable.push({ ...placed(placeOfField(source, fieldOf(mistake.path))), message: mistakeText(mistake) });
    }
    return undefined;
  }

  function once(what: string, { source }: Manifest): void {
    const place = placeOfObject(source);
    if (places.has(what)) {
      const first = places.get(what);
      const message = `${what} stands in ${first?.file}:${first?.line} too; this one counts`;
      notices.push({ ...placed(place), message });
    }
    places.set(what, place);
  }

  function take(manifest: Manifest): void {
    const object = manifest.object as KubernetesObject;
    switch (manifest.review ? '' : manifest.kind) {
      case 'GpuPolicy': {
        const policy = readStored(object);
        once(`GpuPolicy ${policy.metadata.name}`, manifest);
        policies.set(policy.metadata.name, policy);
        return;
      }
      case 'Namespace': {
        const namespace = read(namespaceSchema, manifest);
        if (!namespace) return;
        once(`Namespace ${namespace.metadata.name}`, manifest);
        namespaces.set(namespace.metadata.name, Object.freeze({ ...namespace.metadata.labels }));
        return;
      }
      case 'Node': {
        const node = read(nodeSchema, manifest);
        if (!node) return;
        once(`Node ${node.metadata.name}`, manifest);
        const { name, labels } = node.metadata;
        nodes.set(name, { name, labels: { ...labels }, allocatable: { ...node.status?.allocatable } });
        return;
      }
      case 'ResourceQuota':
      case 'LimitRange': {
        const reduced = manifest.kind === 'LimitRange' ? limitRangeOf(object) : quotaOf(object);
        limits = [...(limits ?? []), { ...reduced, namespace: namespaceOf(manifest) ?? '' }];
        return;
      }
      case 'DeviceClass':
        deviceClasses = new Set([...(deviceClasses ?? []), extendedResourceName(object)].filter((name) => name !== ''));
        return;
      case 'RuntimeClass':
        runtimeClasses = new Set([...(runtimeClasses ?? []), String(object.metadata?.name)]);
        return;
    }
  }

  return {
    add(manifest: Manifest): void {
      try {
        take(manifest);
      } catch (error) {
        // A quota whose lists are no lists, and the like: the API server would not take it either.
        unreadable.push({
          ...placed(placeOfObject(manifest.source)),
          message: `is not understood: ${(error as Error).message}`,
        });
      }
    },
    known: (): Known => ({ policies, namespaces, nodes: [...nodes.values()], limits, deviceClasses, runtimeClasses }),
    notices: notices as readonly Notice[],
    unreadable: unreadable as readonly Notice[],
  };
}

function placed(place: Place | undefined): Partial<Place> {
  return place ? { file: place.file, line: place.line, column: place.column } : {};
}

/** What is known, as the judge asks for it. `added` are labels that every namespace has beside its own. */
export function sourceOf(known: Known, added: Labels): ClusterSource {
  const { nodes, limits, deviceClasses, runtimeClasses } = known;
  const namespaces = new Map<string, Labels>(
    [...known.namespaces].map(([name, labels]) => [name, Object.freeze({ ...labels, ...added })]),
  );
  const labelled = Object.keys(added).length > 0;
  const labelsOf = (name: string): Labels | undefined => {
    if (labelled && !namespaces.has(name)) namespaces.set(name, Object.freeze({ ...added }));
    return namespaces.get(name);
  };
  const extras: Extras = {
    limits: (namespace) => limits?.filter((limit) => limit.namespace === namespace),
    deviceClassResources: () => deviceClasses,
    runtimeClasses: () => runtimeClasses,
  };
  return {
    known: labelsOf,
    async namespaceLabels(name) {
      const labels = labelsOf(name);
      return labels ? { found: true, labels } : { found: false };
    },
    namespaces: () => namespaces,
    nodes: () => nodes,
    extras,
    synced: () => true,
    watches: () => [],
    close: async () => {},
  };
}
