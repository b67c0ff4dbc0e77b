import { Counter, Gauge, type Registry } from 'prom-client';

/** Metrics of certificates that gpugate keeps itself. */
export type CertificateMetrics = ReturnType<typeof certificateMetrics>;

export function certificateMetrics(registry: Registry) {
  const registers = [registry];
  return {
    renewals: new Counter({
      name: 'gpugate_certificate_renewals_total',
      help: 'Certificates made by this replica, by what was made: authority or leaf.',
      labelNames: ['what'],
      registers,
    }),
    secretWrites: new Counter({
      name: 'gpugate_certificate_secret_writes_total',
      help: 'Writes of the Secret of certificates, by result: success, conflict (another replica was first) or failure.',
      labelNames: ['result'],
      registers,
    }),
    secretFaults: new Counter({
      name: 'gpugate_certificate_secret_faults_total',
      help: 'Times that the Secret of certificates was found with something in it that cannot be used.',
      registers,
    }),
    bundleWrites: new Counter({
      name: 'gpugate_ca_bundle_writes_total',
      help: 'Writes of caBundle into a webhook configuration, by resource and by result: success, conflict or failure.',
      labelNames: ['resource', 'result'],
      registers,
    }),
    bundleInStep: new Gauge({
      name: 'gpugate_ca_bundle_in_step',
      help: '1 while every webhook of the configuration has the caBundle that it should have, else 0; absent where there is no such configuration.',
      labelNames: ['resource'],
      registers,
    }),
  };
}
