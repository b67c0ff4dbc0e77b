import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';

/** The metrics of one gpugate process, each on its own registry so that two servers in one process do not mix. */
export type Metrics = ReturnType<typeof createMetrics>;

// 0.5 ms is where an answer from memory lies; 5 s is the longest timeout that our webhook entries declare.
const DURATION_BUCKETS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5];

const OPERATIONS = new Set(['CREATE', 'UPDATE', 'DELETE', 'CONNECT']);

/** The operation as a label value: what a caller sends is unbounded, a label may not be. */
export function operationLabel(operation: string): string {
  return OPERATIONS.has(operation) ? operation : 'other';
}

/** What a watch says of itself when the metrics are read. */
export interface WatchReading {
  /** Plural name: `namespaces`. */
  readonly resource: string;
  readonly synced: boolean;
  /** Milliseconds since the epoch. */
  readonly lastEventAt: number | undefined;
}

/**
 * Makes the registry and every metric of gpugate. No label carries a namespace, a pod or a user.
 * @example
 * const metrics = createMetrics('0.1.0');
 * metrics.requests.inc({ webhook: 'mutate', operation: operationLabel('CREATE'), outcome: 'denied' });
 */
export function createMetrics(version: string, watches: () => readonly WatchReading[] = () => []) {
  const registry = new Registry();
  const registers = [registry];
  collectDefaultMetrics({ register: registry, prefix: 'gpugate_' });

  const buildInfo = new Gauge({
    name: 'gpugate_build_info',
    help: 'Always 1; the label says which version runs.',
    labelNames: ['version'],
    registers,
  });
  buildInfo.set({ version }, 1);
  watchGauges(registers, watches);

  return {
    registry,
    requests: new Counter({
      name: 'gpugate_requests_total',
      help: 'Reviews answered, by outcome: allowed, changed, denied, malformed or panic.',
      labelNames: ['webhook', 'operation', 'outcome'],
      registers,
    }),
    duration: new Histogram({
      name: 'gpugate_request_duration_seconds',
      help: 'Time from the read body to the finished answer.',
      labelNames: ['webhook', 'operation'],
      buckets: DURATION_BUCKETS,
      registers,
    }),
    findings: new Counter({
      name: 'gpugate_findings_total',
      help: 'Findings reported, by rule code and by the mode of the policy.',
      labelNames: ['code', 'mode'],
      registers,
    }),
    changes: new Counter({
      name: 'gpugate_changes_total',
      help: 'Changes made or announced, by rule code and by the mode of the policy.',
      labelNames: ['code', 'mode'],
      registers,
    }),
    inFlight: new Gauge({
      name: 'gpugate_requests_in_flight',
      help: 'Reviews being judged at this moment.',
      registers,
    }),
    panics: new Counter({
      name: 'gpugate_panics_total',
      help: 'Reviews that ended in an error of gpugate itself; each is logged with its stack.',
      registers,
    }),
    malformed: new Counter({
      name: 'gpugate_malformed_requests_total',
      help: 'Requests to a webhook path that held no readable AdmissionReview, by reason.',
      labelNames: ['reason'],
      registers,
    }),
    policyReloads: new Counter({
      name: 'gpugate_policy_reloads_total',
      help: 'Reloads of the policies; after a failure the last good set serves on.',
      labelNames: ['result'],
      registers,
    }),
    certificateExpiry: new Gauge({
      name: 'gpugate_certificate_expiry_timestamp_seconds',
      help: 'When the certificate being served expires, in seconds since the epoch.',
      registers,
    }),
    certificateReloads: new Counter({
      name: 'gpugate_certificate_reloads_total',
      help: 'Reloads of the certificate; after a failure the last good pair serves on.',
      labelNames: ['result'],
      registers,
    }),
  };
}

function watchGauges(registers: Registry[], watches: () => readonly WatchReading[]): void {
  new Gauge({
    name: 'gpugate_watch_synced',
    help: '1 once the first full list of the resource has been read, else 0.',
    labelNames: ['resource'],
    registers,
    collect() {
      for (const { resource, synced } of watches()) this.set({ resource }, synced ? 1 : 0);
    },
  });
  new Gauge({
    name: 'gpugate_watch_last_event_timestamp_seconds',
    help: 'When the watch of the resource last heard from the API server, in seconds since the epoch.',
    labelNames: ['resource'],
    registers,
    collect() {
      for (const { resource, lastEventAt } of watches()) {
        if (lastEventAt !== undefined) this.set({ resource }, lastEventAt / 1000);
      }
    },
  });
}
