import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { makeAuthority, makeLeaf } from '../../src/certificates/sign.ts';
import { addNamespaces } from '../cluster/gpugate.ts';
import { CHART, helmFor } from '../cluster/helm.ts';
import { mustKubectl } from '../cluster/kubectl.ts';
import { settled } from './chaos/settled.ts';
import { demoPolicies, type Installed, install, startInstallable } from './installed.ts';
import { commandOn } from './page-commands.ts';
import { type Manifest, one, render as renderedBy } from './rendered.ts';
import { type Counts, type Stream, startStream, table } from './stream.ts';

const VALUES = { policies: demoPolicies(), shutdownDelay: '5s' };
/** How docs/certificates.md changes the source; before the second step it is written into the values. */
const [FIRST, SECOND, THIRD] = [/failClosed=none$/, /--force-conflicts/, /-f values\.yaml$/];

describe('the source of certificates is changed as docs/certificates.md says, while pods are created', () => {
  let cluster: Installed;
  let stream: Stream;
  let counts: readonly Counts[] = [];
  const own = { source: 'own' };
  let mine: { readonly source: string; readonly secret: { readonly name: string; readonly caBundle: string } };
  const kubectl = (...args: readonly string[]) => mustKubectl(cluster.plane.kubectl, args);

  beforeAll(async () => {
    cluster = await startInstallable();
    await install(cluster, VALUES);
    await addNamespaces(cluster.plane);
    for (const name of ['team-notebooks', 'team-inference', 'team-training', 'team-web', 'team-free'])
      await kubectl('wait', '--for=create', 'serviceaccount/default', '-n', name, '--timeout=60s');
    mine = { source: 'secret', secret: { name: 'mine', caBundle: await addSecret(cluster, 'mine') } };
    await settled(cluster);
    await sleep(2_000); // The API server takes in the configurations.
    stream = startStream({ plane: cluster.plane, rate: 20, dryRun: true });
    await stream.phase('own');
    await sleep(3_000);
  });
  afterAll(() => cluster?.stop());

  const step = (part: RegExp, certificates: object, but?: string) => {
    const words = commandOn('certificates.md', 'helm', part).filter((word) => word !== but);
    const args = words.map((word) => ({ CHART, 'values.yaml': '-' })[word] ?? word);
    return cluster.helm(args, { input: JSON.stringify({ ...VALUES, certificates }) });
  };
  const mustStep = async (part: RegExp, certificates: object) => {
    const { code, stderr } = await step(part, certificates);
    expect(code, stderr).toBe(0);
  };
  /** What the entries of both configurations trust. */
  const trusted = async () => {
    const kinds = 'mutatingwebhookconfigurations,validatingwebhookconfigurations';
    const printed = await kubectl('get', kinds, '-o', 'jsonpath={.items[*].webhooks[*].clientConfig.caBundle}');
    return [...new Set(printed.split(' '))].map((bundle) => Buffer.from(bundle, 'base64').toString());
  };

  test('from own ones to those of a Secret, which the page does not do by half', { timeout: 600_000 }, async () => {
    await stream.phase('own to secret', 'either');
    await mustStep(FIRST, own);
    const { stderr } = await step(SECOND, mine, '--force-conflicts');
    expect(stderr).toMatch(/conflicts with .?"gpugate.?" using [^&]*clientConfig\.caBundle/);
    await mustStep(SECOND, mine);
    await mustStep(THIRD, mine);
    await settled(cluster);
    expect(await trusted()).toEqual([mine.secret.caBundle]);
    await stream.phase('secret');
    await sleep(3_000);
  });

  test('and back', { timeout: 600_000 }, async () => {
    await stream.phase('secret to own', 'either');
    await mustStep(FIRST, mine);
    await mustStep(SECOND, own);
    await mustStep(THIRD, own);
    await settled(cluster);
    expect(await trusted()).not.toContain(mine.secret.caBundle);
    await stream.phase('own again');
    await sleep(3_000);
    counts = await stream.stop();
  });

  test('none is refused that should not be, and none slips by before and after', () => {
    console.log(table(counts));
    for (const phase of ['own', 'secret', 'own again'])
      expect(counts.find((each) => each.phase === phase)?.outcomes.right).toBeGreaterThan(0);
    // While it changes, one that only the validating call has reached may be asked to try again, more than once.
    const asked = (phase: string, example: string) => phase.includes(' to ') && example.includes('GPU180');
    const examples = counts.flatMap((each) => each.examples.filter((example) => !asked(each.phase, example)));
    expect(examples).toEqual([]);
  });
});

test('cert-manager has a Secret of its own', async () => {
  const dir = await mkdtemp(join(tmpdir(), 'gpugate-helm-'));
  try {
    const render = renderedBy.bind(undefined, await helmFor(dir));
    const secrets = (manifest: Manifest) => JSON.stringify(manifest).match(/gpugate-(certificates|tls|ca)\b/g);
    const certManager = await render('--set', 'certificates.source=cert-manager');
    expect(secrets(one(await render(), 'Deployment'))).toEqual(['gpugate-certificates']);
    expect(secrets(one(certManager, 'Deployment'))).toEqual(['gpugate-tls']);
    expect(one(certManager, 'Certificate').spec.secretName).toBe('gpugate-tls');
  } finally {
    await rm(dir, { recursive: true });
  }
});

/** A Secret as somebody else would keep it; the CA of its certificate. */
async function addSecret({ plane }: Installed, name: string): Promise<string> {
  const validity = { notBefore: new Date(Date.now() - 60_000), notAfter: new Date(Date.now() + 86_400_000) };
  const authority = await makeAuthority(name, validity);
  const leaf = await makeLeaf(authority, { dns: ['gpugate.gpugate.svc'] }, validity);
  const [cert, key] = [join(plane.dir, `${name}.crt`), join(plane.dir, `${name}.key`)];
  await writeFile(cert, leaf.certificate);
  await writeFile(key, leaf.key);
  await mustKubectl(plane.kubectl, [
    ...['create', 'secret', 'tls', name, '-n', 'gpugate'],
    ...['--cert', cert, '--key', key],
  ]);
  return authority.certificate;
}
