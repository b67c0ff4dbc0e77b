import { getHeapStatistics } from 'node:v8';
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import type { WatchState } from '../cluster/source.ts';
import { watchMetrics } from './watch-metrics.ts';

/** The metrics of one gpugate process, each on its own registry so that two servers in one process do not mix. */
export type Metrics = ReturnType<typeof createMetrics>;

// 0.5 ms is where an answer from memory lies; 5 s is the longest timeout that our webhook entries declare.
const DURATION_BUCKETS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5];

/** Why a TLS handshake failed. */
export type TlsFailure = (typeof TLS_FAILURES)[number];
const TLS_FAILURES = ['not_trusted', 'protocol', 'timeout', 'closed', 'other'] as const;

const WHERE_KNOWN = 'absent where that is not known: of files, where ca.crt does not lie beside them.';

const OPERATIONS = new Set(['CREATE', 'UPDATE', 'DELETE', 'CONNECT']);

/** The operation as a label value: what a caller sends is unbounded, a label may not be. */
export function operationLabel(operation: string): string {
  return OPERATIONS.has(operation) ? operation : 'other';
}

/**
 * Makes the registry and every metric of gpugate. No label carries a namespace, a pod or a user.
 * @example
 * const metrics = createMetrics('0.1.0');
 * metrics.requests.inc({ webhook: 'mutate', operation: operationLabel('CREATE'), outcome: 'denied' });
 */
export function createMetrics(version: string, watches: () => readonly WatchState[] = () => []) {
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
  watchMetrics(registers, watches);
  heapLimit(registers);

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
    unread: fromZero(
      registers,
      'gpugate_unread_policies_total',
      'Reviews whose namespace or policy could not be read: mutate judges them without one, validate refuses them.',
      { webhook: ['mutate', 'validate'] },
    ),
    tlsFailures: fromZero(
      registers,
      'gpugate_tls_failures_total',
      'TLS handshakes that failed, by reason: not_trusted (the client does not trust our certificate), protocol, timeout, closed or other.',
      { reason: TLS_FAILURES },
    ),
    refusedClients: new Counter({
      name: 'gpugate_refused_clients_total',
      help: 'Requests of clients without a certificate that --client-ca and --client-names ask for.',
      registers,
    }),
    clientAuthorityReloads: reloads(
      registers,
      'gpugate_client_ca_reloads_total',
      'Reloads of the file of --client-ca, by result; after a failure the last good one stays.',
    ),
    policyReloads: reloads(
      registers,
      'gpugate_policy_reloads_total',
      'Reloads of the directory of policies, by result; after a failure the last good set serves on.',
    ),
    certificateExpiry: new Gauge({
      name: 'gpugate_certificate_expiry_timestamp_seconds',
      help: 'When the certificate being served expires, in seconds since the epoch.',
      registers,
    }),
    certificateStart: new Gauge({
      name: 'gpugate_certificate_not_before_timestamp_seconds',
      help: 'From when the certificate being served is valid, in seconds since the epoch.',
      registers,
    }),
    authorityExpiry: mayBeAbsent(
      registers,
      'gpugate_certificate_authority_expiry_timestamp_seconds',
      `When the CA of the certificate being served expires, in seconds since the epoch; ${WHERE_KNOWN}`,
    ),
    authorityStart: mayBeAbsent(
      registers,
      'gpugate_certificate_authority_not_before_timestamp_seconds',
      `From when the CA of the certificate being served is valid, in seconds since the epoch; ${WHERE_KNOWN}`,
    ),
    certificateReloads: reloads(
      registers,
      'gpugate_certificate_reloads_total',
      'Reloads of the certificate, by result; after a failure the last good pair serves on.',
    ),
  };
}

function reloads(registers: Registry[], name: string, help: string) {
  return fromZero(registers, name, help, { result: ['success', 'failure'] });
}

/** A counter of one label that is there before the first of each value, so that an increase over time sees that one too. */
function fromZero<L extends string>(
  registers: Registry[],
  name: string,
  help: string,
  of: Readonly<Record<L, readonly string[]>>,
): Counter<L> {
  const labelNames = Object.keys(of) as L[];
  const counter = new Counter({ name, help, labelNames, registers });
  for (const label of labelNames) {
    for (const value of of[label]) counter.inc({ [label]: value } as Record<L, string>, 0);
  }
  return counter;
}

/** A gauge without a sample until it is set: an expiry of 0 would be an alarm. */
function mayBeAbsent(registers: Registry[], name: string, help: string): Gauge {
  const gauge = new Gauge({ name, help, registers });
  gauge.remove();
  return gauge;
}

/** Node ends with a crash where the heap reaches this: beside the heap in use, it tells how near that is. */
function heapLimit(registers: Registry[]): void {
  new Gauge({
    name: 'gpugate_nodejs_heap_limit_bytes',
    help: 'The most that the heap of the process may grow to.',
    registers,
    collect() {
      this.set(getHeapStatistics().heap_size_limit);
    },
  });
}
