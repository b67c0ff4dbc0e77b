import type { Logger } from 'pino';
import { Gauge, type Registry } from 'prom-client';
import type { ClusterSource } from '../cluster/source.ts';
import { type Census, takeCensus } from '../policy/census.ts';
import type { PolicySource } from '../policy/files.ts';
import type { PolicySet } from '../policy/resolve.ts';
import { isBroken } from '../policy/stored.ts';

export interface PolicyReportOptions {
  readonly policies: PolicySource;
  readonly cluster: Pick<ClusterSource, 'namespaces' | 'synced'>;
  readonly registry: Registry;
  readonly logger: Pick<Logger, 'warn' | 'info'>;
  /** Namespaces that the API server never sends, and that nothing is said of. */
  readonly excludedNamespaces?: readonly string[];
  readonly everyMs?: number;
}

export interface PolicyReport {
  /** Undefined while policies or namespaces have not been read; the same object as long as neither changes. */
  census(): Census | undefined;
  close(): void;
}

/** Counts policies that can't be used, and logs each once: one that is not understood, one that namespaces name and nobody knows. */
export function reportPolicies(options: PolicyReportOptions): PolicyReport {
  const { policies, cluster, registry, logger, excludedNamespaces = [], everyMs = 1000 } = options;
  let taken: { readonly of: readonly [PolicySet, unknown]; readonly census: Census } | undefined;
  let told: ReadonlyMap<string, object> = new Map();

  function census(): Census | undefined {
    if (!cluster.synced() || policies.synced?.() === false) return undefined;
    const set = policies.current();
    const namespaces = cluster.namespaces();
    if (taken?.of[0] !== set || taken.of[1] !== namespaces) {
      taken = { of: [set, namespaces], census: takeCensus(set, namespaces, excludedNamespaces) };
    }
    return taken.census;
  }

  function report(): void {
    const counted = census();
    if (!counted) return;
    const now = new Map<string, object>();
    for (const [policy, stored] of policies.current()) {
      if (isBroken(stored)) now.set(policy, { policy, problems: stored.problems });
    }
    for (const [policy, namespaces] of counted.missing) now.set(policy, { policy, namespaces: namespaces.length });
    for (const [policy, details] of now) {
      if (told.has(policy)) continue;
      const what =
        'problems' in details ? 'a GpuPolicy is not understood' : 'a GpuPolicy that namespaces name is not known';
      logger.warn(details, `${what}: GPU pods of its namespaces are refused (GPU101)`);
    }
    for (const policy of told.keys()) {
      if (!now.has(policy)) logger.info({ policy }, 'the GpuPolicy is no longer missing or misunderstood');
    }
    told = now;
  }

  new Gauge({
    name: 'gpugate_policies',
    help: 'GpuPolicies by state: understood, not_understood, or missing though a namespace names it.',
    labelNames: ['state'],
    registers: [registry],
    collect() {
      const counted = census();
      const known = [...policies.current().values()];
      const broken = known.filter(isBroken).length;
      this.set({ state: 'understood' }, known.length - broken);
      this.set({ state: 'not_understood' }, broken);
      if (counted) this.set({ state: 'missing' }, counted.missing.size);
    },
  });
  const timer = setInterval(report, everyMs).unref();
  return { census, close: () => clearInterval(timer) };
}
