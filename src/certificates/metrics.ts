import { Counter, Gauge, type Registry } from 'prom-client';

/** Metrics of certificates that gpugate keeps itself. Not registered for files: an expiry of 0 would be an alarm. */
export type CertificateMetrics = ReturnType<typeof certificateMetrics>;

export function certificateMetrics(registry: Registry) {
  const registers = [registry];
  const authorityExpiry = new Gauge({
    name: 'gpugate_certificate_authority_expiry_timestamp_seconds',
    help: 'When the CA that signs the certificate expires, in seconds since the epoch; absent until it is known.',
    registers,
  });
  authorityExpiry.remove();
  return {
    authorityExpiry,
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
