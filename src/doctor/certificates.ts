import { X509Certificate } from 'node:crypto';
import type { DoctorInput, Read, Webhook, WebhookConfiguration } from './input.ts';
import { renewBundle } from './register.ts';
import { ok, problem, type Said, unknown, warning } from './result.ts';

const PEM = /-----BEGIN CERTIFICATE-----[\s\S]+?-----END CERTIFICATE-----/g;

/** The caBundles of all entries, and the leaf that is served where it can be seen from here. */
export function certificates(input: DoctorInput): readonly Said[] {
  const webhooks = [...webhooksOf(input.mutating), ...webhooksOf(input.validating)];
  if (webhooks.length === 0) return [unknown('no entry is registered, or none may be read by you')];
  return [...bundles(webhooks, input), ...leaves(input)];
}

export function webhooksOf(read: Read<WebhookConfiguration>): readonly Webhook[] {
  return read.state === 'read' ? (read.value.webhooks ?? []) : [];
}

function bundles(webhooks: readonly Webhook[], { now, configuration }: DoctorInput): readonly Said[] {
  const next = renewBundle(configuration);
  const without = webhooks.filter(({ clientConfig }) => !clientConfig.caBundle).map(({ name }) => name);
  if (without.length > 0) {
    const which = without.length === webhooks.length ? 'no entry has a caBundle' : `${without.join(', ')}: no caBundle`;
    return [problem(`${which}, so the API server does not trust gpugate`, next)];
  }
  const byBundle = Map.groupBy(webhooks, ({ clientConfig }) => clientConfig.caBundle ?? '');
  const said: Said[] = [];
  if (byBundle.size > 1) {
    const groups = [...byBundle.values()].sort((a, b) => a.length - b.length);
    const odd = groups.slice(0, -1).flatMap((group) => group.map(({ name }) => name));
    said.push(
      problem(
        `the caBundles differ: ${odd.join(', ')} ${odd.length === 1 ? 'has' : 'have'} another than the others`,
        next,
      ),
    );
  }
  for (const bundle of byBundle.keys()) said.push(...bundleSaid(bundle, now, next));
  return said;
}

function bundleSaid(bundle: string, now: Date, next: string): readonly Said[] {
  const blocks = Buffer.from(bundle, 'base64').toString('latin1').match(PEM) ?? [];
  const parsed = blocks.flatMap((block) => {
    try {
      return [new X509Certificate(block)];
    } catch {
      return [];
    }
  });
  if (parsed.length === 0 || parsed.length < blocks.length)
    return [problem('the caBundle is no certificate in PEM', next)];
  const good = parsed.filter(({ validToDate }) => validToDate > now);
  const [last] = good.sort((a, b) => Number(b.validToDate) - Number(a.validToDate));
  if (!last) {
    const [expired] = parsed;
    return [
      problem(`the certificate authority of the caBundle has expired on ${day(expired?.validToDate ?? now)}`, next),
    ];
  }
  const count = parsed.length === 1 ? 'one authority' : `${parsed.length} authorities`;
  return [ok(`the caBundle holds ${count}, valid until ${day(last.validToDate)}`)];
}

function leaves({ handshakes, outOfReach, now, configuration }: DoctorInput): readonly Said[] {
  const said = handshakes.map(({ address, leaf, problem: why }): Said => {
    const next = 'kubectl get secret,certificate -A | grep gpugate';
    if (!leaf) return problem(`${address}: no TLS handshake: ${why}`, 'gpugate doctor --help');
    if (leaf.notAfter <= now)
      return problem(`the certificate served at ${address} has expired on ${day(leaf.notAfter)}`, next);
    if (leaf.notBefore > now)
      return problem(`the certificate served at ${address} is valid from ${day(leaf.notBefore)} on`, next);
    if (why !== undefined)
      return problem(
        `the caBundle does not make the certificate served at ${address} trusted: ${why}`,
        renewBundle(configuration),
      );
    const life = Number(leaf.notAfter) - Number(leaf.notBefore);
    const text = `the certificate served at ${address} fits the caBundle and is valid until ${day(leaf.notAfter)}`;
    // It is renewed when two thirds of its life are over.
    return Number(leaf.notAfter) - Number(now) < life / 5
      ? warning(`${text}: it should have been renewed by now`, next)
      : ok(text);
  });
  const unseen = outOfReach.map((address) =>
    unknown(
      `the certificate served at ${address} can't be seen from here; the dry runs tell whether the API server trusts it`,
      'kubectl port-forward -n NAMESPACE service/NAME 8443:443, and gpugate doctor --address 127.0.0.1:8443'
        .replace('NAMESPACE', address.split('.')[1] ?? 'gpugate')
        .replace('NAME', address.split('.')[0] ?? 'gpugate'),
    ),
  );
  return [...said, ...unseen];
}

function day(date: Date): string {
  return date.toISOString().slice(0, 16).replace('T', ' ');
}
