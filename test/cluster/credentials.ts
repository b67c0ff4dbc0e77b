import { generateKeyPairSync } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { kubeconfigFor } from './kubeconfig.ts';

/** The certificate that kube-apiserver issues to itself at its first start, with its CA behind it. */
export function caFileIn(dir: string): string {
  return join(dir, 'certificates', 'apiserver.crt');
}

/** Writes the admin's token, the key of service account tokens and the admin's kubeconfig; returns the kubeconfig's path. */
export async function writeCredentials(dir: string, server: string, token: string): Promise<string> {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'prime256v1' });
  const key = { mode: 0o600 };
  await writeFile(join(dir, 'tokens.csv'), `${token},admin,admin,system:masters\n`, key);
  await writeFile(join(dir, 'service-accounts.key'), privateKey.export({ type: 'sec1', format: 'pem' }), key);
  await writeFile(join(dir, 'service-accounts.pub'), publicKey.export({ type: 'spki', format: 'pem' }));
  const kubeconfig = join(dir, 'kubeconfig');
  await writeFile(kubeconfig, kubeconfigFor(server, { caFile: caFileIn(dir), token }), key);
  return kubeconfig;
}
