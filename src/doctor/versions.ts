import type { KubernetesObject } from '../cluster/store.ts';
import { gpuPolicyCrd } from '../registration/crd.ts';
import type { DoctorInput, Read } from './input.ts';
import { ok, problem, type Said, unknown, warning } from './result.ts';

/** matchConditions, on which every entry relies, are stable since then (KEP-3716). */
const OLDEST_MINOR = 30;
const CRD_NEXT = 'kubectl apply --server-side -f deploy/crd.yaml';

interface Schema {
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
}

interface Crd {
  readonly spec?: {
    readonly versions?: readonly {
      readonly name: string;
      readonly served?: boolean;
      readonly schema?: { readonly openAPIV3Schema?: Schema };
    }[];
  };
  readonly status?: { readonly conditions?: readonly { readonly type: string; readonly status: string }[] };
}

/** The API server, the CRD, and this gpugate beside each other. */
export function versions({ server, version, crd }: DoctorInput): readonly Said[] {
  return [serverSaid(server, version), ...crdSaid(crd)];
}

function serverSaid(server: string, version: string): Said {
  const [, major, minor] = /^v?(\d+)\.(\d+)/.exec(server) ?? [];
  const old = Number(major) === 1 && Number(minor) < OLDEST_MINOR;
  if (old) {
    return problem(
      `the API server is ${server}; gpugate needs 1.${OLDEST_MINOR}, for match conditions`,
      'kubectl version',
    );
  }
  return ok(`gpugate ${version}, API server ${server}`);
}

function crdSaid(read: Read<KubernetesObject>): readonly Said[] {
  if (read.state === 'forbidden') return [unknown('the CRD of GpuPolicy may not be read by you')];
  if (read.state === 'absent') {
    const text = 'GpuPolicy is not installed: no policy is known, and GPU pods of namespaces that name one are refused';
    return [problem(text, CRD_NEXT)];
  }
  const { spec, status } = read.value as Crd;
  const established = status?.conditions?.some(({ type, status: is }) => type === 'Established' && is === 'True');
  if (!established)
    return [problem('the CRD of GpuPolicy is not established', 'kubectl describe crd gpupolicies.gpugate.dev')];
  const own = (gpuPolicyCrd() as Crd).spec?.versions?.[0];
  const live = spec?.versions?.find(({ name }) => name === own?.name);
  if (!live?.served) return [problem(`the CRD of GpuPolicy does not serve ${own?.name}`, CRD_NEXT)];
  const wanted = new Set(fields(own?.schema?.openAPIV3Schema));
  const there = new Set(fields(live.schema?.openAPIV3Schema));
  const missing = [...wanted].filter((field) => !there.has(field));
  const more = [...there].filter((field) => !wanted.has(field));
  if (missing.length > 0) {
    const text = `the CRD of GpuPolicy is older than this gpugate: it lacks ${some(missing)}, which the API server drops`;
    return [problem(text, CRD_NEXT)];
  }
  if (more.length > 0) return [warning(`the CRD of GpuPolicy is newer than this gpugate: it has ${some(more)}`)];
  return [ok(`the CRD of GpuPolicy is that of this version (${own?.name})`)];
}

function some(fields: readonly string[]): string {
  return fields.length > 4 ? `${fields.slice(0, 4).join(', ')} and ${fields.length - 4} more` : fields.join(', ');
}

function* fields(schema: Schema | undefined, path = ''): Iterable<string> {
  for (const [name, field] of Object.entries(schema?.properties ?? {})) {
    const here = path === '' ? name : `${path}.${name}`;
    yield here;
    yield* fields(field, here);
  }
  if (schema?.items) yield* fields(schema.items, `${path}[]`);
}
