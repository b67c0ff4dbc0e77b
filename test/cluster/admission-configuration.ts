import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parse, stringify } from 'yaml';
import { blocksOf } from '../unit/pages.ts';
import type { Credential } from './client-certificates.ts';

const PAGE = new URL('../../docs/operations.md', import.meta.url);

/**
 * Writes what makes kube-apiserver show a client certificate to webhooks, as docs/operations.md has it, and returns the
 * argument for it. `names` are hosts with their port; 443 may be left out (apiserver pkg/util/webhook/authentication.go).
 */
export async function admissionConfiguration(
  dir: string,
  { certificate, key }: Credential,
  names: readonly string[],
): Promise<string> {
  const blocks = blocksOf(await readFile(PAGE, 'utf8'));
  const block = (info: string) => {
    const { text = '' } = blocks.find((found) => found.info === info) ?? {};
    return text.replaceAll('/etc/kubernetes', dir);
  };
  const kubeconfig = parse(block('yaml kubeconfig'));
  const [user] = kubeconfig.users;
  await mkdir(dir, { recursive: true });
  await writeFile(user.user['client-certificate'], certificate);
  await writeFile(user.user['client-key'], key, { mode: 0o600 });
  const users = names.map((name) => ({ ...user, name }));
  await writeFile(
    join(dir, 'webhooks.kubeconfig'),
    stringify({ ...kubeconfig, users }, { aliasDuplicateObjects: false }),
  );
  await writeFile(join(dir, 'admission.yaml'), block('yaml admission'));
  return `--admission-control-config-file=${join(dir, 'admission.yaml')}`;
}
