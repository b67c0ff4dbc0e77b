import { chmod, chown, mkdir, readlink, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { V1KeyToPath, V1Pod, V1Volume, V1VolumeProjection } from '@kubernetes/client-node';
import type { Api } from '../api.ts';
import { dataOf, fieldOf } from './environment.ts';
import type { Image } from './image.ts';

/** Content of the files of a volume by relative path. */
type Files = Readonly<Record<string, Buffer | string>>;

/**
 * A pod's volumes below `dir`, each in a folder of its name, readable by the image's user. Secrets, ConfigMaps and projected volumes
 * are laid out as a kubelet does: a link to `..data`, which links to the folder of one version. Returns what brings them up to date;
 * it rejects while an object that they name is missing.
 */
export function volumesOf(
  pod: V1Pod,
  dir: string,
  { api, image }: { readonly api: Api; readonly image: Image },
): () => Promise<void> {
  const written = new Map<string, string>();
  return async () => {
    for (const volume of pod.spec?.volumes ?? []) {
      const folder = join(dir, volume.name);
      await mkdir(folder, { recursive: true });
      if (written.has(volume.name) && (volume.emptyDir || hasToken(volume))) continue;
      const files = await filesOf(pod, volume, api);
      const content = JSON.stringify(files ?? {});
      if (written.get(volume.name) === content) continue;
      if (files) await writeVersion(folder, files, image.user);
      else await chmod(folder, 0o777);
      written.set(volume.name, content);
    }
  };
}

/** A token lasts for an hour, longer than any test, so it is not renewed. */
function hasToken({ projected }: V1Volume): boolean {
  return projected?.sources?.some(({ serviceAccountToken }) => serviceAccountToken !== undefined) ?? false;
}

/** The files of a volume; undefined for one that starts out empty. */
async function filesOf(pod: V1Pod, volume: V1Volume, api: Api): Promise<Files | undefined> {
  if (volume.emptyDir) return undefined;
  if (volume.secret) {
    const { secretName = '', optional, items } = volume.secret;
    return selected(await dataOf(api, pod, 'secrets', secretName, optional), items);
  }
  if (volume.configMap) {
    const { name = '', optional, items } = volume.configMap;
    return selected(await dataOf(api, pod, 'configmaps', name, optional), items);
  }
  const { sources } = volume.projected ?? {};
  if (!sources) throw new Error(`the process kubelet knows no volume like ${volume.name}`);
  return Object.assign({}, ...(await Promise.all(sources.map((source) => projected(pod, source, api)))));
}

async function projected(pod: V1Pod, source: V1VolumeProjection, api: Api): Promise<Files> {
  const { serviceAccountToken, configMap, secret, downwardAPI } = source;
  if (serviceAccountToken) return { [serviceAccountToken.path]: await token(pod, serviceAccountToken, api) };
  if (configMap)
    return selected(await dataOf(api, pod, 'configmaps', configMap.name ?? '', configMap.optional), configMap.items);
  if (secret) return selected(await dataOf(api, pod, 'secrets', secret.name ?? '', secret.optional), secret.items);
  const items = downwardAPI?.items ?? [];
  return Object.fromEntries(items.map(({ path, fieldRef }) => [path, fieldRef ? fieldOf(pod, fieldRef) : '']));
}

/** A token bound to the pod, as a kubelet gets it. */
async function token(pod: V1Pod, of: { audience?: string; expirationSeconds?: number }, api: Api): Promise<string> {
  const { namespace, name, uid } = pod.metadata ?? {};
  const path = `/api/v1/namespaces/${namespace}/serviceaccounts/${pod.spec?.serviceAccountName}/token`;
  const spec = {
    audiences: of.audience === undefined ? [] : [of.audience],
    expirationSeconds: of.expirationSeconds ?? 3600,
    boundObjectRef: { apiVersion: 'v1', kind: 'Pod', name, uid },
  };
  const { code, body } = await api('POST', path, {
    apiVersion: 'authentication.k8s.io/v1',
    kind: 'TokenRequest',
    spec,
  });
  if (code !== 201) throw new Error(`no token for ${name}: ${code} ${body?.message}`);
  return body.status.token;
}

function selected(data: Readonly<Record<string, Buffer>>, items: V1KeyToPath[] | undefined): Files {
  if (!items) return data;
  return Object.fromEntries(items.map(({ key, path }) => [path, data[key] ?? Buffer.alloc(0)]));
}

async function writeVersion(folder: string, files: Files, user: number): Promise<void> {
  const version = `..${process.hrtime.bigint()}`;
  const old = await readlink(join(folder, '..data')).catch(() => undefined);
  await mkdir(join(folder, version));
  for (const [path, content] of Object.entries(files)) {
    const file = join(folder, version, path);
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, content, { mode: 0o400 });
    await chown(file, user, user);
    const first = path.split('/')[0] ?? path;
    await symlink(join('..data', first), join(folder, first)).catch(existing);
  }
  await symlink(version, join(folder, '..data_tmp'));
  await rename(join(folder, '..data_tmp'), join(folder, '..data'));
  if (old !== undefined) await rm(join(folder, old), { recursive: true });
}

function existing(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EEXIST') throw error;
}
