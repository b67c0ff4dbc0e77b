import { asArray, asObject } from '../admission/pod.ts';
import { valueAt } from '../admission/templates.ts';
import { causeOf } from './causes.ts';
import { webhooksOf } from './certificates.ts';
import type { DoctorInput, Probe, Tried } from './input.ts';
import { ok, problem, type Said, unknown } from './result.ts';

/** What the API server made of the dry runs. */
export function dryRuns(input: DoctorInput): readonly Said[] {
  const { probes, noChange } = input;
  const home = webhooksOf(input.validating)[0]?.clientConfig.service?.namespace ?? 'gpugate';
  const asked = { home, configuration: input.configuration };
  const failure = probes.flatMap(({ tried }) => callFailure(tried, asked)).at(0);
  const said = probes.map(({ probe, tried }) => probeSaid(probe, tried, asked, failure));
  return noChange === undefined ? said : [...said, unknown(`no pod to change was tried: ${noChange}`)];
}

/** Where gpugate runs, and what its configurations are called. */
interface Asked {
  readonly home: string;
  readonly configuration: string;
}

interface Failure {
  readonly entry: string;
  readonly text: string;
  readonly next: string;
}

/** A call of one of gpugate's entries that failed and that its failure policy made an error of. */
function callFailure(tried: Tried, { home, configuration }: Asked): readonly Failure[] {
  if (tried.outcome === 'created') return [];
  const [, entry] = /failed calling webhook "([^"]+\.gpugate\.dev)"/.exec(tried.message) ?? [];
  return entry === undefined ? [] : [{ entry, ...causeOf(tried.message, home, configuration) }];
}

function probeSaid(probe: Probe, tried: Tried, asked: Asked, seen: Failure | undefined): Said {
  const what = probe.namespace === undefined ? probe.name : `${probe.name}, in namespace ${probe.namespace}`;
  const [failed] = callFailure(tried, asked);
  if (failed)
    return problem(`${what}: the API server could not ask gpugate (${failed.entry}): ${failed.text}`, failed.next);
  if (tried.outcome === 'refused' && isRbac(tried)) {
    return unknown(`${what}: you may not create it, not even as a dry run`, 'kubectl auth can-i create pods');
  }
  if (tried.outcome === 'refused' && tried.status === 404) {
    return unknown(`${what}: there is no such resource or namespace: ${tried.message}`);
  }
  switch (probe.name) {
    case 'a GpuPolicy to refuse':
      return mustRefuse(what, tried, seen, /gpugate: .*GpuPolicy/s, 'policies.validate.gpugate.dev');
    case 'a pod to refuse':
      return mustRefuse(what, tried, seen, /denied the request: gpugate: .*GPU002/s, 'gpu-pods.mutate.gpugate.dev');
    case 'a pod to change':
      return mustChange(what, probe, tried, seen);
    case 'a pod to judge':
      return tried.outcome === 'created'
        ? ok(`${what}: a pod with one GPU passes`)
        : unknown(`${what}: something refuses it: ${tried.message}`);
    case 'a pod to pass':
      return mustPass(what, tried);
  }
}

function isRbac({ status, message }: Tried & { outcome: 'refused' }): boolean {
  return status === 403 && /cannot create resource/.test(message);
}

function notAsked(what: string, entry: string, seen: Failure | undefined, instead: string): Said {
  const why = seen
    ? `its call failed, and the entry lets that pass: ${seen.text}`
    : `the entry ${entry} is not registered, does not match, or its call failed and it lets that pass`;
  return problem(
    `${what}: gpugate was not asked, and ${instead}; ${why}`,
    seen?.next ?? 'gpugate doctor, at "registration"',
  );
}

function mustRefuse(what: string, tried: Tried, seen: Failure | undefined, by: RegExp, entry: string): Said {
  if (tried.outcome === 'created') return notAsked(what, entry, seen, 'it would be stored');
  if (by.test(tried.message)) return ok(`${what}: gpugate refuses it`);
  if (/must be an integer/.test(tried.message)) {
    return notAsked(
      what,
      entry,
      seen,
      'only the API server itself refuses it, without a reason that people understand',
    );
  }
  return unknown(`${what}: something else refuses it: ${tried.message}`);
}

function mustChange(what: string, { expects = [] }: Probe, tried: Tried, seen: Failure | undefined): Said {
  if (tried.outcome === 'refused') {
    if (/GPU180/.test(tried.message))
      return notAsked(what, 'gpu-pods.mutate.gpugate.dev', seen, 'the pod came unchanged to validation');
    return unknown(`${what}: something refuses it: ${tried.message}`);
  }
  const missing = expects.filter(({ path, value }) => !stands(tried.object, path, value));
  if (missing.length === 0 && isMarked(tried.object)) return ok(`${what}: gpugate changes it as the policy says`);
  if (!isMarked(tried.object))
    return notAsked(what, 'gpu-pods.mutate.gpugate.dev', seen, 'the pod would be stored unchanged');
  const paths = missing.map(({ path }) => path).join(', ');
  return problem(
    `${what}: gpugate changes it in another way than this version would (${paths})`,
    'kubectl get gpupolicies; compare the versions',
  );
}

function mustPass(what: string, tried: Tried): Said {
  if (tried.outcome === 'refused') {
    const own = /gpugate/.test(tried.message);
    const text = `${what}: an ordinary pod is refused: ${tried.message}`;
    return own ? problem(text, 'gpugate doctor, at "registration"') : unknown(text);
  }
  return isMarked(tried.object)
    ? problem(`${what}: gpugate changes a pod that asks for no GPU`, 'kubectl get gpupolicies')
    : ok(`${what}: an ordinary pod passes unchanged`);
}

function stands(object: unknown, path: string, value: unknown): boolean {
  const keys = path
    .slice(1)
    .split('/')
    .map((key) => key.replaceAll('~1', '/').replaceAll('~0', '~'));
  const found = valueAt(
    object,
    keys.map((key) => (/^\d+$/.test(key) ? Number(key) : key)),
  );
  return Array.isArray(found) ? asArray(found).some((item) => asObject(item)?.key === value) : found === value;
}

/** gpugate writes which policy it applied. */
function isMarked(object: unknown): boolean {
  return asObject(asObject(asObject(object)?.metadata)?.annotations)?.['gpugate.dev/policy'] !== undefined;
}
