import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseAllDocuments } from 'yaml';
import { type Api, apiOf } from '../../cluster/api.ts';
import { whenReady } from '../../cluster/component.ts';
import { type ControlPlane, startControlPlane } from '../../cluster/controlplane.ts';
import { CHART, helmFor, mustHelm } from '../../cluster/helm.ts';
import { mustKubectl } from '../../cluster/kubectl.ts';

/** The accounts of the chart. */
export const ACCOUNTS = ['gpugate', 'gpugate-unregister', 'gpugate-install-crd', 'gpugate-test'] as const;
export type Account = (typeof ACCOUNTS)[number];

/** A control plane with what the chart installs, and nothing that runs. */
export interface Accounts {
  readonly plane: ControlPlane;
  /** As an administrator; it must succeed. */
  readonly kubectl: (args: string, input?: string) => Promise<string>;
  readonly apiAs: (account: Account) => Api;
  /** The path of a kubeconfig with the token of an account. */
  readonly kubeconfigOf: (account: Account) => Promise<string>;
}

export async function installAccounts(): Promise<Accounts> {
  const plane = await startControlPlane({ log: console.log });
  const kubectl = (args: string, input?: string) => mustKubectl(plane.kubectl, args.split(' '), input);
  try {
    const tokens = await install(plane, kubectl);
    return {
      plane,
      kubectl,
      apiAs: (account) => apiOf({ ...plane, token: tokens.get(account) ?? '' }),
      async kubeconfigOf(account) {
        const file = join(plane.dir, `${account}.kubeconfig`);
        const admin = JSON.parse(await readFile(plane.kubeconfig, 'utf8'));
        const users = [{ name: 'admin', user: { token: tokens.get(account) } }];
        await writeFile(file, JSON.stringify({ ...admin, users }));
        return file;
      },
    };
  } catch (error) {
    await plane.stop();
    throw error;
  }
}

/** Gives the token of each account. */
async function install(plane: ControlPlane, kubectl: Accounts['kubectl']): Promise<ReadonlyMap<Account, string>> {
  const helm = await helmFor(plane.dir, plane.kubeconfig, console.log);
  for (const name of ['gpugate', 'team']) await kubectl(`create namespace ${name}`);
  await mustHelm(helm, ['install', 'gpugate', CHART, '--namespace', 'gpugate', '--no-hooks']);
  // Helm makes these only while a hook runs; what runs in them would need a kubelet.
  const hooks = ['-s', 'templates/hooks.yaml', '-s', 'templates/test.yaml'];
  const printed = await mustHelm(helm, ['template', 'gpugate', CHART, '--namespace', 'gpugate', ...hooks]);
  const objects = parseAllDocuments(printed).map((document) => document.toJS());
  const items = objects.filter((object) => object && !['Job', 'Pod'].includes(object.kind));
  await kubectl('apply -f -', JSON.stringify({ apiVersion: 'v1', kind: 'List', items }));
  const tokens = new Map<Account, string>();
  for (const name of ACCOUNTS) tokens.set(name, (await kubectl(`create token ${name} -n gpugate`)).trim());
  for (const name of ['gpugate-certificates', 'other']) await kubectl(`create secret generic ${name} -n gpugate`);
  // For a moment, a resource that is established is answered with 429.
  await whenReady([], async () => (await plane.kubectl(['get', 'gpupolicies'])).code === 0, 60_000);
  return tokens;
}
