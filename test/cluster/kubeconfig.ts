/** How a kubeconfig says whom to speak with, and as whom. */
export interface Access {
  readonly token?: string;
  readonly caFile?: string;
  /** PEM. */
  readonly ca?: string;
}

/** The text of a kubeconfig for one API server. */
export function kubeconfigFor(server: string, { token, caFile, ca }: Access = {}): string {
  const cluster = {
    server,
    'certificate-authority': caFile,
    'certificate-authority-data': ca && Buffer.from(ca).toString('base64'),
  };
  const name = 'gpugate';
  // JSON is YAML: nothing to quote.
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name, cluster }],
    users: [{ name: 'admin', user: { token } }],
    contexts: [{ name, context: { cluster: name, user: 'admin' } }],
    'current-context': name,
  };
  return `${JSON.stringify(config, null, 2)}\n`;
}
