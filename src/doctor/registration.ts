import { isDeepStrictEqual } from 'node:util';
import { NAME, webhookConfigurations } from '../registration/configurations.ts';
import type { Entry } from '../registration/entries.ts';
import type { DoctorInput, Expression, Read, Webhook, WebhookConfiguration } from './input.ts';
import { registerAgain } from './register.ts';
import { ok, problem, type Said, unknown, warning } from './result.ts';

const NAME_KEY = 'kubernetes.io/metadata.name';

/** What stands in the two configurations, beside what this version would register. */
export function registration(input: DoctorInput): readonly Said[] {
  const said: Said[] = [];
  for (const [kind, type, read] of [
    ['MutatingWebhookConfiguration', 'mutate', input.mutating],
    ['ValidatingWebhookConfiguration', 'validate', input.validating],
  ] as const) {
    said.push(...configuration(input, kind, type, read));
  }
  if (said.some(({ mark }) => mark !== 'ok')) return said;
  const { length } = input.entries;
  return [
    ...said,
    ok(
      `all ${length} entries of this version are registered, with the failure policies and exclusions that it gives them`,
    ),
  ];
}

function configuration(
  input: DoctorInput,
  kind: string,
  type: Entry['type'],
  read: Read<WebhookConfiguration>,
): readonly Said[] {
  const named = `${kind} ${input.configuration}`;
  if (read.state === 'forbidden') return [unknown(`${named} may not be read by you`)];
  const again = registerAgain(input.configuration);
  if (read.state === 'absent') {
    const next = input.configuration === NAME ? again : `kubectl get ${kind.toLowerCase()}s`;
    return [problem(`there is no ${named}: the API server does not ask gpugate`, next)];
  }
  const live = new Map((read.value.webhooks ?? []).map((webhook) => [webhook.name, webhook]));
  const said: Said[] = [];
  for (const entry of input.entries.filter((each) => each.type === type)) {
    const webhook = live.get(entry.name);
    live.delete(entry.name);
    if (webhook) said.push(...differences(input, entry, webhook));
    else said.push(problem(`the entry ${entry.name} is missing from ${named}: ${entry.purpose}`, again));
  }
  for (const name of live.keys()) {
    said.push(warning(`the entry ${name} of ${named} is none of this version`, again));
  }
  return said;
}

function differences(input: DoctorInput, entry: Entry, live: Webhook): readonly Said[] {
  const said: Said[] = [];
  const again = registerAgain(input.configuration);
  const { name, failurePolicy } = entry;
  if (live.failurePolicy !== failurePolicy) {
    const then =
      failurePolicy === 'Fail'
        ? 'what it refuses passes while gpugate is away'
        : 'while gpugate is away, what it matches is refused';
    said.push(warning(`${name} has failurePolicy ${live.failurePolicy}, not ${failurePolicy}: ${then}`, again));
  }
  said.push(...selectors(input, entry, live));
  const [wanted] = webhookConfigurations({ target: { url: 'https://gpugate' } }).flatMap((each) =>
    ((each as WebhookConfiguration).webhooks ?? []).filter((webhook) => webhook.name === name),
  );
  const fields = ['sideEffects', 'matchPolicy', 'reinvocationPolicy', 'objectSelector', 'admissionReviewVersions'];
  const other = fields.filter((field) => !isDeepStrictEqual(plain(live[field]), plain(wanted?.[field])));
  if (!isDeepStrictEqual(plain(live.rules), plain(entry.rules))) other.push('rules');
  const conditions = (live.matchConditions ?? []) as readonly { readonly name: string }[];
  const { lacking, added } = compare(conditions, entry.matchConditions);
  if (lacking.length > 0) other.push('matchConditions');
  else if (added.length > 0) {
    said.push(ok(`${name} has further match conditions: ${added.map((each) => each.name).join(', ')}`));
  }
  if (other.length > 0) {
    const hint =
      'registered by another version, or with other --gpu-resources and --templates than the doctor was given';
    said.push(warning(`${name} differs in ${other.join(', ')}: ${hint}`, again));
  }
  return said;
}

/** Which namespaces an entry leaves out, and which it picks by labels. */
function selectors(input: DoctorInput, { name, namespaceSelector }: Entry, live: Webhook): readonly Said[] {
  const wanted = namespaceSelector.matchExpressions ?? [];
  if (wanted.length === 0) return [];
  const again = registerAgain(input.configuration);
  const own = live.clientConfig.service?.namespace;
  const found = live.namespaceSelector?.matchExpressions ?? [];
  const leftOut = found.find(isExclusion)?.values ?? [];
  // The namespace of the release takes the place of the default one.
  const must = input.excludedNamespaces.map((each) => (each === 'gpugate' && own !== undefined ? own : each));
  const missing = [...new Set(must)].filter((each) => !leftOut.includes(each));
  const said: Said[] = [];
  if (missing.length > 0) {
    const text = `${name} does not leave out the namespace${missing.length === 1 ? '' : 's'} ${missing.join(', ')}`;
    const why = own !== undefined && missing.includes(own) ? ': gpugate can keep its own pods from starting' : '';
    said.push(warning(text + why, again));
  }
  const more = leftOut.filter((each) => !must.includes(each) && each !== 'gpugate');
  if (more.length > 0) said.push(ok(`${name} also leaves out ${more.join(', ')}`));
  const { lacking, added } = compare(
    found.filter((each) => !isExclusion(each)),
    wanted.filter((each) => !isExclusion(each)),
  );
  if (lacking.length > 0) said.push(warning(`${name} picks namespaces by other labels than this version would`, again));
  else if (added.length > 0) said.push(ok(`${name} is narrowed by ${added.map(({ key }) => key).join(', ')}`));
  return said;
}

/** What stands there and is not of this version, and what this version has beside that. */
function compare<T>(found: readonly T[], wanted: readonly unknown[]) {
  const same = (a: unknown) => (b: unknown) => isDeepStrictEqual(plain(a), plain(b));
  return {
    lacking: wanted.filter((each) => !found.some(same(each))),
    added: found.filter((each) => !wanted.some(same(each))),
  };
}

function isExclusion({ key, operator }: Expression): boolean {
  return key === NAME_KEY && operator === 'NotIn';
}

/** Without undefined fields, so that what was read and what would be written compare. */
function plain(value: unknown): unknown {
  return value === undefined ? undefined : JSON.parse(JSON.stringify(value));
}
