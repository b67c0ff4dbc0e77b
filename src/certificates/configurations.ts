import type { X509Certificate } from 'node:crypto';
import type { Operation } from '../cluster/client.ts';
import type { KubernetesObject } from '../cluster/store.ts';
import { readCertificates } from './x509.ts';

/** One webhook configuration, so far as it concerns certificates. */
export interface View {
  readonly resourceVersion: string;
  /** What `caBundle` of each webhook holds, as text; empty where it isn't set. */
  readonly bundles: readonly string[];
}

export function viewOf(object: KubernetesObject): View {
  const { webhooks } = object as { webhooks?: readonly { clientConfig?: { caBundle?: string } }[] | null };
  return {
    resourceVersion: object.metadata?.resourceVersion ?? '',
    bundles: (webhooks ?? []).map(({ clientConfig }) =>
      Buffer.from(clientConfig?.caBundle ?? '', 'base64').toString('utf8'),
    ),
  };
}

/** Whether every webhook of a configuration has the bundle. */
export function isInStep({ bundles }: View, bundle: string): boolean {
  return bundles.every((each) => each === bundle);
}

/**
 * What sets `caBundle`, and nothing else, of each webhook that has another one. It is refused when the configuration is no longer
 * the one that was looked at: the list of webhooks may have changed, or another replica may have published a newer bundle.
 */
export function patchFor({ resourceVersion, bundles }: View, bundle: string): readonly Operation[] {
  const value = Buffer.from(bundle).toString('base64');
  const changes = bundles.flatMap((each, at) =>
    each === bundle ? [] : [{ op: 'add', path: `/webhooks/${at}/clientConfig/caBundle`, value } as const],
  );
  return [{ op: 'test', path: '/metadata/resourceVersion', value: resourceVersion }, ...changes];
}

/** Which CAs every configuration trusts, and for how long. */
export interface Trust {
  /** Takes in the configurations as they stand; undefined while that is not known. */
  see(views: readonly View[] | undefined): void;
  /** In milliseconds; undefined when one doesn't trust it. Without any configuration nothing calls us, and all is as good as settled. */
  forMs(ca: X509Certificate): number | undefined;
}

/** Trusts nothing yet. `elapsed` is a clock that nobody can set, in milliseconds. */
export function createTrust(elapsed: () => number = () => performance.now()): Trust {
  const since = new Map<string, number>();
  let nobody = false;
  return {
    see(views) {
      const bundles = views?.flatMap((view) => view.bundles) ?? [];
      nobody = views !== undefined && bundles.length === 0;
      const sets = [...new Set(bundles)].map(fingerprints);
      const trusted = [...(sets[0] ?? [])].filter((each) => sets.every((set) => set.has(each)));
      for (const known of since.keys()) if (!trusted.includes(known)) since.delete(known);
      for (const found of trusted) if (!since.has(found)) since.set(found, elapsed());
    },
    forMs({ fingerprint256 }) {
      if (nobody) return Number.POSITIVE_INFINITY;
      const from = since.get(fingerprint256);
      return from === undefined ? undefined : elapsed() - from;
    },
  };
}

function fingerprints(bundle: string): ReadonlySet<string> {
  try {
    return new Set(readCertificates(bundle).map(({ fingerprint256 }) => fingerprint256));
  } catch {
    return new Set();
  }
}
