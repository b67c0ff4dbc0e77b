import { asArray, asObject, type JsonObject } from '../admission/pod.ts';
import { TEMPLATE_KINDS } from '../admission/template-kinds.ts';

/** Kinds that are judged, that others are judged by, and those that they stand in. */
const KINDS = new Set([
  ...['Pod', 'List', 'AdmissionReview', 'GpuPolicy', 'Namespace', 'Node'],
  ...['ResourceQuota', 'LimitRange', 'DeviceClass', 'RuntimeClass'],
  ...TEMPLATE_KINDS.map(({ kind }) => kind),
]);

/**
 * Why something is no object, though it is clearly meant to be one: kubectl refuses it, and passed over it would look like one
 * without problems. Undefined for what is something else, such as the values of a chart, which may have a `kind` of their own.
 */
export function whyNoObject(content: unknown): string | undefined {
  if (Array.isArray(content)) {
    const hasObjects = content.some((item) => isMeant(asObject(item) ?? {}));
    return hasObjects ? 'is a list of objects and no object; put it under the items of a kind: List' : undefined;
  }
  const object = asObject(content);
  if (!object || !isMeant(object)) return undefined;
  const { apiVersion, kind } = object;
  if (isName(apiVersion) && isName(kind)) return undefined;
  if (isName(kind)) return `has kind ${kind} and ${lacking(object, 'apiVersion')}`;
  if (isName(apiVersion)) return `has apiVersion ${apiVersion} and ${lacking(object, 'kind')}`;
  return `has containers, ${lacking(object, 'apiVersion')} and ${lacking(object, 'kind')}`;
}

/** `no kind`, with what stands there instead of it. */
function lacking(object: JsonObject, key: string): string {
  if (Object.hasOwn(object, key)) return `${key} ${JSON.stringify(object[key])}, which is no name`;
  const written = keyLike(object, key);
  return `no ${key}${written === undefined ? '' : ` (${JSON.stringify(written)} is written ${key})`}`;
}

function isMeant(object: JsonObject): boolean {
  const { kind, metadata, spec, items, request } = object;
  const hasBody = [metadata, spec, items, request].some((part) => typeof part === 'object' && part !== null);
  if (typeof kind === 'string' && KINDS.has(kind) && (hasBody || keyLike(object, 'apiVersion') !== undefined))
    return true;
  return hasContainers(spec) || hasContainers(asObject(asObject(spec)?.template)?.spec);
}

function hasContainers(spec: unknown): boolean {
  return asArray(asObject(spec)?.containers).some((item) => {
    const container = asObject(item) ?? {};
    return typeof container.name === 'string' || typeof container.image === 'string';
  });
}

function isName(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}

/** A key that is the wanted one but for the case of its letters. */
function keyLike(object: JsonObject, wanted: string): string | undefined {
  return Object.keys(object).find((key) => key !== wanted && key.toLowerCase() === wanted.toLowerCase());
}
