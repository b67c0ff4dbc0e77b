import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Helm, helmFor } from '../cluster/helm.ts';
import { one, render as renderedBy } from './rendered.ts';

// No cluster: what values do to what is rendered, and which are refused.
let dir: string;
let helm: Helm;
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'gpugate-helm-'));
  helm = await helmFor(dir, undefined, console.log);
});
afterAll(() => rm(dir, { recursive: true }));

const set = (...settings: readonly string[]) => settings.flatMap((setting) => ['--set', setting]);
const render = (...args: readonly string[]) => renderedBy(helm, ...args);

describe('how replicas are replaced', () => {
  const strategyOf = async (...settings: readonly string[]) =>
    one(await render(...set(...settings)), 'Deployment').spec.strategy;

  test('a new one is ready before an old one goes', async () => {
    const rollingUpdate = { maxSurge: 1, maxUnavailable: 0 };
    expect(await strategyOf()).toEqual({ type: 'RollingUpdate', rollingUpdate });
  });

  test("on the node's network an old one goes first, since its ports are taken on its node", async () => {
    const rollingUpdate = { maxSurge: 0, maxUnavailable: 1 };
    expect(await strategyOf('hostNetwork=true')).toEqual({ type: 'RollingUpdate', rollingUpdate });
  });

  test('updateStrategy is taken as it is', async () => {
    expect(await strategyOf('updateStrategy.type=Recreate')).toEqual({ type: 'Recreate' });
  });
});
