import type { KubeConfig } from '@kubernetes/client-node';
import { whyUnread } from '../files/unread.ts';

/**
 * Loads a file, else what kubectl would find, else the service account of a pod, and makes a context the current one. Returns the
 * address of its API server.
 * @throws Error of one line that names the file, the context or what is missing.
 */
export function chooseCluster(config: KubeConfig, kubeconfig: string | undefined, context: string | undefined): string {
  const file = `kubeconfig ${kubeconfig || process.env.KUBECONFIG || '~/.kube/config'}`;
  try {
    if (kubeconfig) config.loadFromFile(kubeconfig);
    else config.loadFromDefault();
  } catch (error) {
    throw new Error(`${file}${whyNoConfig(error as Error)}`);
  }
  // What loadFromDefault answers when it finds nothing.
  const found = config.getCurrentCluster();
  if (!kubeconfig && found?.name === 'cluster' && found.server === 'http://localhost:8080') {
    throw new Error('no cluster: neither a kubeconfig (KUBECONFIG, ~/.kube/config) nor a service account is there');
  }
  if (context !== undefined) {
    const names = config.getContexts().map(({ name }) => name);
    if (!names.includes(context)) {
      const known = names.length === 0 ? `${file} has none` : `there are ${names.join(', ')}`;
      throw new Error(`no context is called ${context}; ${known}`);
    }
    config.setCurrentContext(context);
  }
  const cluster = config.getCurrentCluster();
  if (!cluster) throw new Error(`${file}: no current-context`);
  return cluster.server.replace(/\/+$/, '');
}

/** After the name of the file: the line and what js-yaml says of it, without its drawing; else why the file can't be read. */
function whyNoConfig(error: Error): string {
  const { reason, mark } = error as { reason?: string; mark?: { line: number } };
  return reason !== undefined && mark ? `:${mark.line + 1}: ${reason}` : `: ${whyUnread(error)}`;
}
