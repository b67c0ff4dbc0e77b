import { readFile } from 'node:fs/promises';
import type { Logger } from 'pino';
import { watchFile } from '../files/watch-file.ts';
import type { App } from '../server/app.ts';
import { type Clients, checkAuthority } from '../server/clients.ts';
import type { Metrics } from '../server/metrics.ts';
import type { Configuration } from './configuration.ts';
import { orInput } from './sources.ts';

/** Who may send reviews; undefined where no --client-ca is given. */
export async function startingClients({ clientCa, clientNames }: Configuration): Promise<Clients | undefined> {
  if (clientCa === undefined) return undefined;
  const authority = await orInput(readFile(clientCa, 'utf8').then((text) => checkAuthority(clientCa, text)));
  return { authority, names: clientNames };
}

/** Trusts what is put into the file from now on. Returns what ends that. */
export function followClients(
  file: string | undefined,
  clients: Clients | undefined,
  app: App,
  metrics: Metrics,
  logger: Logger,
): () => void {
  if (file === undefined || clients === undefined) return () => undefined;
  return watchFile(file, {
    text: clients.authority,
    onText: (text = '') => {
      app.useClients({ ...clients, authority: checkAuthority(file, text) });
      metrics.clientAuthorityReloads.inc({ result: 'success' });
      logger.info({ file }, 'authority of clients reloaded');
    },
    onFault: (error) => {
      metrics.clientAuthorityReloads.inc({ result: 'failure' });
      logger.error({ reason: error.message }, 'authority of clients not reloaded, the last good one stays');
    },
  });
}
