import { statSync } from 'node:fs';
import { isIP } from 'node:net';
import { z } from 'zod';
import { isExtendedResource } from '../policy/resources.ts';
import { LEVELS } from '../server/log-level.ts';
import { FLAGS } from './flags.ts';
import { insideCluster } from './sources.ts';

/** What `serve` was told, checked. Times are in milliseconds; paths that weren't given are undefined. */
export type Configuration = z.output<typeof schema>;

/** The configuration, or one line for each mistake: which flag and variable, the value, and the fix. */
export type Read =
  | { readonly ok: true; readonly configuration: Configuration }
  | { readonly ok: false; readonly mistakes: readonly string[] };

const LABEL = '[a-z0-9]([a-z0-9-]*[a-z0-9])?';
const HOSTNAME = new RegExp(`^(?=.{1,253}$)(?![\\d.]+$)${LABEL}(\\.${LABEL})*$`, 'i');
const NAMESPACED_NAME = new RegExp(`^${LABEL}/${LABEL}(\\.${LABEL})*$`);
const SHORTEST_LIFETIME = 10;
const LONGEST_LIFETIME = 365 * 24 * 3600;
const LONGEST_DELAY_MS = 300_000;

const host = z.string().refine((value) => isIP(value) !== 0 || HOSTNAME.test(value), {
  error: 'is not an address; give one of this machine, such as 127.0.0.1, or 0.0.0.0 for all',
});
const port = z
  .string()
  .refine((value) => /^\d{1,5}$/.test(value) && Number(value) <= 65535, {
    error: 'is not a port; give a whole number from 1 to 65535, or 0 for any free one',
  })
  .transform(Number);
const delay = z
  .string()
  .refine((value) => milliseconds(value) <= LONGEST_DELAY_MS, {
    error: 'is not a time up to 300 s; give one such as 10s, 500ms or 0',
  })
  .transform(milliseconds);
const directory = z.string().refine((path) => typeOf(path) === 'directory', {
  error: 'is not a directory; give one that exists',
});
const file = z.string().refine((path) => typeOf(path) === 'file', { error: 'is not a file; give one that exists' });

const resourceNames = z
  .string()
  .transform((text) => text.split(',').map((name) => name.trim()))
  .refine((names) => names.every(isExtendedResource), {
    error: 'is not a list of extended resources; give names such as example.com/npu,example.com/gpu',
  });

const commonNames = z
  .string()
  .transform((text) => text.split(',').map((name) => name.trim()))
  .refine((names) => names.every((name) => name !== ''), {
    error: 'is not a list of common names; give names such as kube-apiserver,front-proxy-client',
  });

const namespacedName = z
  .string()
  .refine((text) => NAMESPACED_NAME.test(text), { error: 'is not a name in a namespace; give namespace/name' })
  .transform((text) => {
    const [namespace = '', name = ''] = text.split('/');
    return { namespace, name };
  });

const lifetime = z
  .string()
  .refine((text) => seconds(text) >= SHORTEST_LIFETIME && seconds(text) <= LONGEST_LIFETIME, {
    error: 'is not a life from 10s to 365d; give one such as 90d, 12h, 30m or 60s',
  })
  .transform((text) => seconds(text) * 1000);

const schema = z.object({
  host,
  port,
  metricsPort: port,
  certDir: z.string().refine((path) => typeOf(path) !== 'file', { error: 'is a file; give a directory' }),
  certSecret: namespacedName.optional(),
  service: namespacedName.optional(),
  webhookConfigurations: z.string().refine((name) => HOSTNAME.test(name), {
    error: 'is not the name of webhook configurations; give one such as gpugate',
  }),
  certLifetime: lifetime,
  policies: directory.optional(),
  namespaces: file.optional(),
  nodes: file.optional(),
  kubeconfig: file.optional(),
  gpuResources: resourceNames.optional(),
  templates: file.optional(),
  logLevel: z.enum(LEVELS, { error: `is not a level; give one of ${LEVELS.join(', ')}` }),
  logLevelFile: z
    .string()
    .refine((path) => typeOf(path) !== 'directory', { error: 'is a directory; give a file in it' })
    .optional(),
  clientCa: file.optional(),
  clientNames: commonNames,
  shutdownDelay: delay,
  welcome: z.boolean().optional(),
});

type Values = Readonly<Record<string, unknown>>;

/**
 * Checks what the command line and the environment say. `sourceOf` tells where a value came from, as commander's
 * `getOptionValueSource` does.
 * @example
 * readConfiguration(command.opts(), (flag) => command.getOptionValueSource(flag));
 */
export function readConfiguration(values: Values, sourceOf: (flag: string) => string | undefined): Read {
  const read = schema.safeParse(values);
  const wrong: readonly (readonly [string, string])[] = [
    ...(read.error?.issues ?? []).map(({ path, message }) => [String(path[0]), message] as const),
    ...clashes(values),
    ...certificateClashes(values, sourceOf),
  ];
  if (read.success && wrong.length === 0) return { ok: true, configuration: read.data };
  return {
    ok: false,
    mistakes: wrong.map(
      ([flag, message]) => `${nameOf(flag, sourceOf(flag))}: ${JSON.stringify(values[flag])} ${message}`,
    ),
  };
}

/** Settings that are fine each, but not together. */
function clashes({ port, metricsPort, kubeconfig, namespaces, nodes }: Values): [string, string][] {
  const found: [string, string][] = [];
  if (port === metricsPort && port !== '0')
    found.push(['metricsPort', 'is the port of the webhook too; give another one']);
  if (kubeconfig === undefined) return found;
  if (namespaces !== undefined) found.push(['namespaces', 'stands beside --kubeconfig; leave out one of the two']);
  if (nodes !== undefined) found.push(['nodes', 'stands beside --kubeconfig; leave out one of the two']);
  return found;
}

/** Own certificates need a cluster to lie in and a name to be for; what is only for them is of no use without. */
function certificateClashes(values: Values, sourceOf: (flag: string) => string | undefined): [string, string][] {
  const isGiven = (flag: string) => values[flag] !== undefined && !['default', undefined].includes(sourceOf(flag));
  if (!isGiven('certSecret')) {
    const useless = ['service', 'webhookConfigurations', 'certLifetime'].filter(isGiven);
    return useless.map((flag) => [flag, 'is only for --cert-secret; give that too, or leave this out']);
  }
  const found: [string, string][] = [];
  // The image sets its variable.
  if (sourceOf('certDir') === 'cli') found.push(['certDir', 'stands beside --cert-secret; leave out one of the two']);
  if (!isGiven('service')) {
    found.push(['certSecret', 'stands without --service; give the Service that the API server calls']);
  }
  if (values.kubeconfig === undefined && !insideCluster()) {
    found.push(['certSecret', 'needs a cluster; give --kubeconfig']);
  }
  return found;
}

function nameOf(flag: string, source: string | undefined): string {
  const known = FLAGS[flag];
  if (known === undefined) return flag;
  return source === 'env' ? `${known.variable} (${known.long})` : `${known.long} (${known.variable})`;
}

function milliseconds(text: string): number {
  const [, amount, unit] = /^(\d{1,9}(?:\.\d{1,3})?)(ms|s)?$/.exec(text) ?? [];
  return amount === undefined ? Number.POSITIVE_INFINITY : Number(amount) * (unit === 'ms' ? 1 : 1000);
}

function seconds(text: string): number {
  const [, amount, unit = ''] = /^(\d{1,9})([smhd])$/.exec(text) ?? [];
  const each: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600, d: 24 * 3600 };
  return Number(amount) * (each[unit] ?? Number.NaN);
}

function typeOf(path: string): 'file' | 'directory' | undefined {
  try {
    return statSync(path).isDirectory() ? 'directory' : 'file';
  } catch {
    return undefined;
  }
}
