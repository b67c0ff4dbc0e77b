import { renewBundle } from './register.ts';

/** A failed call of a webhook in plain words: what is wrong, and what to do. */
interface Cause {
  readonly pattern: RegExp;
  readonly text: string;
  readonly next: string;
}

/**
 * Texts of Go's net, tls and x509 packages, and of the API server's service resolver (k8s.io/apiserver pkg/util/webhook, proxy), as
 * they stand behind `failed calling webhook`.
 */
const CAUSES: readonly Cause[] = [
  {
    pattern: /x509: certificate has expired or is not yet valid/,
    text: 'the certificate that gpugate serves has expired, or the clocks differ',
    next: 'kubectl get secret,certificate -n NAMESPACE; gpugate serves a renewed one without a restart',
  },
  {
    pattern:
      /x509: certificate is valid for .*, not |x509: certificate is not valid for any names|cannot validate certificate for/,
    text: 'the certificate that gpugate serves is for other names than the one that the API server calls',
    next: 'compare --service of `gpugate serve` with clientConfig of the webhook configurations',
  },
  {
    pattern: /x509: certificate signed by unknown authority|x509: .*(ECDSA|RSA) verification (error|failure)/,
    text: 'the caBundle is not that of the certificate that gpugate serves',
    next: 'RENEW',
  },
  {
    pattern: /unable to (load root certificates|parse bytes as PEM)|no valid certificates/,
    text: 'the caBundle is no certificate',
    next: 'RENEW',
  },
  {
    pattern: /remote error: tls: (certificate required|bad certificate|unknown certificate)/,
    text: 'gpugate wants a client certificate (--client-ca), and the API server has none, or one of another authority',
    next: 'start without --client-ca, or set up the AdmissionConfiguration of the API server',
  },
  {
    pattern: /no endpoints available for service|no service port|does not have a port/,
    text: 'the Service has no ready pod behind it, or not that port',
    next: 'kubectl get pods,endpointslices -n NAMESPACE',
  },
  {
    pattern: /service "?[^" ]*"? not found/,
    text: 'the Service that the webhook configurations name does not exist',
    next: 'kubectl get services -A | grep gpugate',
  },
  {
    pattern: /connection refused/,
    text: 'nothing listens there: gpugate is not running',
    next: 'kubectl get pods -n NAMESPACE; kubectl logs -n NAMESPACE deployment/gpugate',
  },
  {
    pattern: /context deadline exceeded|Client\.Timeout|i\/o timeout|TLS handshake timeout/,
    text: 'no answer came in time: a firewall between control plane and nodes, a NetworkPolicy, or gpugate hangs',
    next: 'allow the control plane to reach the webhook port (8443); kubectl logs -n NAMESPACE deployment/gpugate',
  },
  {
    pattern: /no such host|no route to host|network is unreachable/,
    text: "the API server can't find the way to the address",
    next: 'look at clientConfig of the webhook configurations',
  },
  {
    pattern: /EOF|connection reset/,
    text: 'the connection broke off: gpugate ended in the middle, or something between cut it',
    next: 'kubectl logs -n NAMESPACE deployment/gpugate --previous',
  },
  {
    pattern: /first record does not look like a TLS handshake|server gave HTTP response/,
    text: 'what answers there speaks plain HTTP: it is another port, or another program',
    next: 'compare the port of the Service with --port of `gpugate serve`',
  },
  {
    pattern: /the server could not find the requested resource|404|expected webhook response/,
    text: 'what answers there is not gpugate, or an older one',
    next: 'look at clientConfig of the webhook configurations',
  },
];

/** What a text of the API server about a failed call means; the text itself where it is none that is known. */
export function causeOf(
  message: string,
  namespace: string,
  configuration: string,
): { readonly text: string; readonly next: string } {
  const cause = CAUSES.find(({ pattern }) => pattern.test(message));
  if (!cause) return { text: message, next: `kubectl logs -n ${namespace} deployment/gpugate` };
  return {
    text: cause.text,
    next: cause.next.replaceAll('NAMESPACE', namespace).replace('RENEW', renewBundle(configuration)),
  };
}
