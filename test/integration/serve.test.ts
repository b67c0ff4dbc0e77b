import { readFileSync } from 'node:fs';
import { mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { client } from './client.ts';
import { serve } from './gpugate.ts';

const recorded = (file: string) => JSON.parse(readFileSync(new URL(`../reviews/${file}`, import.meta.url), 'utf8'));

let dir: string;
let policies: string;
let served: Awaited<ReturnType<typeof serve>>;
let requests: ReturnType<typeof client>;

const policy = (maxGpus: string) => `apiVersion: gpugate.dev/v1alpha1
kind: GpuPolicy
metadata: {name: small}
spec: {sharing: exclusive, maxGpus: {perPod: ${maxGpus}}}
`;
const NAMESPACES = `apiVersion: v1
kind: Namespace
metadata: {name: team-small, labels: {gpugate.dev/policy: small}}
---
apiVersion: v1
kind: Namespace
metadata: {name: team-mig, labels: {gpugate.dev/mig-profile: 1g.10gb}}
`;

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'gpugate-'));
  policies = join(dir, 'policies');
  await mkdir(policies);
  await writeFile(join(policies, 'small.yaml'), policy('4'));
  await writeFile(join(dir, 'namespaces.yaml'), NAMESPACES);
  served = await serve(['--policies', policies, '--namespaces', join(dir, 'namespaces.yaml'), '--shutdown-delay', '0']);
  requests = client(served.port, served.ca);
});
afterAll(async () => {
  requests.close();
  await served.remove();
  await rm(dir, { recursive: true });
});

async function answered(path: string, file: string, namespace: string, gpus?: string) {
  const review = recorded(file);
  review.request.namespace = namespace;
  const [container] = review.request.object.spec.containers;
  if (gpus !== undefined)
    container.resources = { limits: { 'nvidia.com/gpu': gpus }, requests: { 'nvidia.com/gpu': gpus } };
  const { status, text } = await requests.review(path, review);
  expect(status).toBe(200);
  return JSON.parse(text).response;
}

/** Replaces the policy at once, so that no look sees half a file. */
async function put(text: string): Promise<void> {
  await writeFile(join(dir, 'next'), text);
  await rename(join(dir, 'next'), join(policies, 'small.yaml'));
}

const metrics = async () => (await fetch(`http://127.0.0.1:${served.metricsPort}/metrics`)).text();

describe('gpugate serve', () => {
  it('refuses a fraction of a GPU and says why', async () => {
    const { allowed, status } = await answered('/mutate', 'pod-create-fraction.json', 'team-small');
    expect(allowed).toBe(false);
    expect(status).toMatchObject({ code: 403, reason: 'Forbidden', message: expect.stringContaining('GPU002') });
  });

  it('changes whole GPUs to the profile of the namespace', async () => {
    const { allowed, patchType, patch } = await answered('/mutate', 'pod-create-whole.json', 'team-mig');
    expect({ allowed, patchType }).toEqual({ allowed: true, patchType: 'JSONPatch' });
    expect(Buffer.from(patch, 'base64').toString()).toContain('nvidia.com~1mig-1g.10gb');
  });

  it('takes another policy while it runs, keeps it when the file breaks, and counts both', async () => {
    const refused = async () => !(await answered('/mutate', 'pod-create-whole.json', 'team-small', '3')).allowed;
    const until = async (line: string) => {
      while (!(await metrics()).includes(line)) await sleep(50);
    };
    expect(await refused()).toBe(false);
    await put(policy('2'));
    await until('gpugate_policy_reloads_total{result="success"} 1');
    expect(await refused()).toBe(true);
    await put(policy('many'));
    await until('gpugate_policy_reloads_total{result="failure"} 1');
    expect(await refused()).toBe(true);
  });

  it('is ready on both ports', async () => {
    const { status, text } = await requests.send({ method: 'GET', path: '/readyz' });
    expect({ status, text }).toEqual({
      status: 200,
      text: '[+] lifecycle\n[+] certificate\n[+] handshake\n[+] cluster\nready\n',
    });
    expect((await fetch(`http://127.0.0.1:${served.metricsPort}/readyz`)).status).toBe(200);
  });
});
