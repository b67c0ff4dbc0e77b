import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { addCrd, addPolicies, DEMO_POLICIES, register } from '../cluster/gpugate.ts';
import { container, deployment, type Governed, pod, startGoverned } from './governed.ts';

const GPU = 'nvidia.com/gpu';
const slice = (profile: string) => `nvidia.com/mig-${profile}`;
const policy = (name: string, spec: object) => ({
  apiVersion: 'gpugate.dev/v1alpha1',
  kind: 'GpuPolicy',
  metadata: { name },
  spec,
});
const MIG = { sharing: 'mig', mig: { profile: '1g.10gb' } };
const two = container('c', { limits: { [GPU]: 2 } });

describe('GpuPolicies in a real API server', () => {
  let cluster: Governed;
  beforeAll(async () => {
    cluster = await startGoverned({ installed: false });
  });
  afterAll(() => cluster?.stop());

  const poll = (what: () => unknown) => expect.poll(what, { timeout: 20_000, interval: 200 });
  const apply = (object: object, more = '') => cluster.run(`apply${more} -f -`, object);
  const dry = (object: object) => apply(object, ' --dry-run=server -o json');
  const limitsOf = async (namespace: string) => {
    const { stdout, stderr } = await dry(pod('p', namespace, [container('c')]));
    return stdout === '' ? stderr : Object.keys(JSON.parse(stdout).spec.containers[0].resources.limits).join();
  };
  const namespace = async (name: string, labels: string) => {
    await cluster.must(`create namespace ${name}`);
    await cluster.must(`wait --for=create serviceaccount/default -n ${name} --timeout=20s`);
    return cluster.run(`label namespace ${name} ${labels}`);
  };
  const logged = async (text: string) =>
    (await readFile(cluster.gpugate.logFile, 'utf8')).split('\n').filter((line) => line.includes(text));
  const statesOf = async () => {
    const exposition = await (await fetch(`${cluster.gpugate.metricsUrl}/metrics`)).text();
    return Object.fromEntries(
      [...exposition.matchAll(/^gpugate_policies\{state="(\w+)"\} (\d+)$/gm)].map(([, state, value]) => [
        state,
        Number(value),
      ]),
    );
  };
  const columnsOf = async (name: string) =>
    (await cluster.must(`get gpupolicy ${name} --no-headers -o wide`)).trim().split(/ {2,}/);

  test('gpugate starts where the CRD is missing, says so once, and is ready', async () => {
    await sleep(6000); // Longer than it waits before it looks again.
    expect(await logged('GpuPolicy is not installed')).toHaveLength(1);
    expect((await fetch(`${cluster.gpugate.metricsUrl}/readyz`)).status).toBe(200);
  });

  test('the CRD is picked up when it comes, with a policy that was written before anybody looked at it', async () => {
    await addCrd(cluster.plane);
    await cluster.must('apply -f -', policy('broken', { sharing: 'mig', mig: { profile: '1g.11gb' } }));
    await poll(() => columnsOf('broken')).toContain('False');
    await register(cluster.plane, cluster.gpugate);
    await addPolicies(cluster.plane);
    expect(await logged('GpuPolicy is not installed')).toHaveLength(1);
  });

  test('kubectl explains every field with its values and default', async () => {
    const text = (await cluster.must('explain gpupolicy.spec')).replace(/\s+/g, ' ');
    expect(text).toContain('What is done with GPU requests in the namespaces that name this policy.');
    expect(text).toContain('mode <string> enum: enforce, warn, audit What becomes of a verdict.');
    expect(text).toContain('Default: enforce.');
    expect(text).toContain('enum: off, warn, deny');
    expect(await cluster.must('explain gpol.spec.memoryCap.amount')).toContain('percentage of the whole GPU');
  });

  test('the columns are filled', async () => {
    const header = await cluster.must('get gpupolicies');
    expect(header.split('\n')[0]?.split(/ +/).filter(Boolean)).toEqual([
      'NAME',
      'MODE',
      'SHARING',
      'PROFILE',
      'CAP',
      'NAMESPACES',
      'READY',
      'AGE',
    ]);
    expect((await columnsOf('notebooks')).slice(0, 6)).toEqual([
      'notebooks',
      'enforce',
      'time-slicing',
      'auto',
      '1',
      'True',
    ]);
    expect((await columnsOf('multi-tenant')).slice(0, 6)).toEqual([
      'multi-tenant',
      'enforce',
      'mig',
      '1g.10gb',
      '1',
      'True',
    ]);
    await namespace('another', 'gpugate.dev/policy=notebooks');
    await poll(async () => (await columnsOf('notebooks'))[4]).toBe('2');
    const { status, metadata } = JSON.parse(await cluster.must('get gpupolicy notebooks -o json'));
    expect(status).toMatchObject({
      observedGeneration: metadata.generation,
      namespaceNames: ['another', 'team-notebooks'],
    });
  });

  describe('one that would not be understood is refused when it is applied', () => {
    test('a profile that no board has, with the nearest real ones and their boards', async () => {
      const { code, stderr } = await apply(policy('x', { sharing: 'mig', mig: { profile: '1g.11gb' } }));
      expect(code).toBe(1);
      expect(stderr.slice(stderr.indexOf('admission webhook'))).toBe(
        `admission webhook "policies.validate.gpugate.dev" denied the request: gpugate: 1 problem with GpuPolicy "x"
 - GPU113 spec.mig.profile is "1g.11gb", which is on no known board; nearest: 1g.10gb (A100-SXM4-40GB, A100-SXM4-80GB, ...), 1g.12gb (H100-NVL, GH200-96GB, ...)
`,
      );
    });

    test('every mistake at once, blocks that do not go together among them', async () => {
      const spec = { sharing: 'mig', mig: { profile: '1g.10gb' }, timeSlicing: {}, memoryCap: { amount: 'lots' } };
      const { stderr } = await apply(policy('x', spec));
      expect(stderr).toContain('3 problems with GpuPolicy "x"');
      expect(stderr).toContain(' - GPU101 spec.timeSlicing is only read with sharing: time-slicing; sharing is mig');
      expect(stderr).toContain(' - GPU101 spec.memoryCap.amount is "lots", which is not auto');
    });

    test.each<[string, object, string]>([
      ['an unknown field', { moed: 'warn' }, 'unknown field "spec.moed"'],
      [
        'an unknown value',
        { sharing: 'vgpu' },
        'spec.sharing: Unsupported value: "vgpu": supported values: "exclusive"',
      ],
      ['a fraction', { maxGpus: { perPod: 0.5 } }, 'spec.maxGpus.perPod'],
    ])('%s, by the API server itself', async (_, spec, text) => {
      const { code, stderr } = await apply(policy('x', spec));
      expect(code).toBe(1);
      expect(stderr).toContain(text);
    });

    test('also on an update, but not when only its labels change', async () => {
      const { code, stderr } = await cluster.run(
        `patch gpupolicy multi-tenant --type=merge -p ${JSON.stringify({ spec: { mig: { profile: '9g.99gb' } } })}`,
      );
      expect(code).toBe(1);
      expect(stderr).toContain('GPU113 spec.mig.profile');
      await cluster.must('label gpupolicy broken team=platform');
    });
  });

  test('the ready-made ones, applied again client-side and server-side, leave no diff', async () => {
    const generations = async () =>
      JSON.parse(await cluster.must(`get -f ${DEMO_POLICIES} -o json`)).items.map(
        (item: { metadata: object }) => item.metadata,
      );
    const before = await generations();
    for (const flag of ['', ' --server-side']) {
      for (const _ of [1, 2]) await cluster.must(`apply${flag} -f ${DEMO_POLICIES}`);
      const diff = await cluster.run(`diff${flag} -f ${DEMO_POLICIES}`);
      expect(diff.stdout + diff.stderr).toBe('');
    }
    const pick = (all: { generation: number }[]) => all.map(({ generation }) => generation);
    expect(pick(await generations())).toEqual(pick(before));
  });

  test('an edit is followed by the next pod, and no pod of that moment is refused for it', async () => {
    await cluster.must(
      'apply -f -',
      policy('edited', { ...MIG, mig: { profile: '1g.10gb', allowedProfiles: ['2g.20gb'] } }),
    );
    await namespace('edited', 'gpugate.dev/policy=edited');
    await poll(() => limitsOf('edited')).toBe(slice('1g.10gb'));
    const seen: string[] = [];
    let done = false;
    const creating = (async () => {
      for (let count = 0; !done; count += 1) {
        const { code, body } = await cluster.api(
          'POST',
          '/api/v1/namespaces/edited/pods',
          pod(`p${count}`, 'edited', [container('c')]),
        );
        seen.push(code === 201 ? Object.keys(body.spec.containers[0].resources.limits).join() : body.message);
      }
    })();
    await sleep(300);
    await cluster.must(
      'apply -f -',
      policy('edited', { ...MIG, mig: { profile: '2g.20gb', allowedProfiles: ['1g.10gb'] } }),
    );
    await sleep(700);
    done = true;
    await creating;
    const turn = seen.indexOf(slice('2g.20gb'));
    expect(turn).toBeGreaterThan(0);
    expect(new Set(seen.slice(0, turn))).toEqual(new Set([slice('1g.10gb')]));
    expect(new Set(seen.slice(turn))).toEqual(new Set([slice('2g.20gb')]));
  });

  test('one that is not understood refuses GPU pods of its namespaces, with the field, and is counted and logged once', async () => {
    await namespace('broken', 'gpugate.dev/policy=broken');
    const refused = await dry(pod('p', 'broken', [container('c')]));
    expect(refused.stderr).toContain('policy "broken", namespace broken');
    expect(refused.stderr).toContain(
      'GPU113 metadata.namespace: policy "broken" spec.mig.profile is "1g.11gb", which is on no known board',
    );
    expect((await dry(pod('p', 'broken', [container('c', {})]))).code, 'other pods are let by').toBe(0);
    expect(await statesOf()).toMatchObject({ not_understood: 1, missing: 0 });
    expect(await logged('a GpuPolicy is not understood')).toHaveLength(1);
    await poll(async () => (await columnsOf('broken')).at(-1)).toMatch(
      /^spec\.mig\.profile is "1g\.11gb", which is on no known board/,
    );
    await cluster.must('apply -f -', policy('broken', MIG));
    await poll(() => limitsOf('broken')).toBe(slice('1g.10gb'));
    await poll(async () => (await columnsOf('broken')).slice(4, 6)).toEqual(['1', 'True']);
  });

  test('one that is deleted while in use is warned of, and refuses GPU pods until it is back', async () => {
    await cluster.must('apply -f -', policy('gone', MIG));
    await namespace('gone', 'gpugate.dev/policy=gone');
    await poll(() => limitsOf('gone')).toBe(slice('1g.10gb'));
    const { code, stderr } = await cluster.run('delete gpupolicy gone');
    expect(code).toBe(0);
    expect(stderr).toBe(
      'Warning: GPU101 GpuPolicy "gone" serves 1 namespace (gone): their GPU pods are refused until they name another policy.\n',
    );
    await poll(() => limitsOf('gone')).toContain(
      'GPU101 metadata.namespace: namespace label gpugate.dev/policy is "gone", which names no GpuPolicy that is known',
    );
    expect((await dry(pod('p', 'gone', [container('c', {})]))).code, 'other pods are let by').toBe(0);
    await poll(() => statesOf()).toMatchObject({ missing: 1 });
    await poll(() => logged('"policy":"gone","namespaces":1')).toHaveLength(1);
    await cluster.must('apply -f -', policy('gone', MIG));
    expect(await limitsOf('gone'), 'read at once, watch or not').toBe(slice('1g.10gb'));
  });

  test('locked fields: the label is told when it is written, and ignored', async () => {
    await cluster.must('apply -f -', policy('locked', { ...MIG, locked: ['mode', 'migProfile'] }));
    const { stderr } = await namespace(
      'locked',
      'gpugate.dev/policy=locked gpugate.dev/mode=audit gpugate.dev/max-gpus=4',
    );
    expect(stderr).toBe(
      'Warning: GPU101 namespace label gpugate.dev/mode is "audit", which is ignored, since policy "locked" locks mode. Remove the label.\n',
    );
    const { stdout, stderr: said } = await dry(pod('p', 'locked', [container('c')]));
    expect(JSON.parse(stdout).spec.containers[0].resources.limits).toEqual({ [slice('1g.10gb')]: '1' });
    expect(said).toContain('since policy "locked" locks mode');
    await poll(async () => (await columnsOf('locked')).at(-1)).toContain('locks mode');
  });

  test('a label that names no policy is told when it is written', async () => {
    const { stderr } = await namespace('misnamed', 'gpugate.dev/policy=notebook');
    expect(stderr).toMatch(
      /^Warning: GPU101 namespace label gpugate\.dev\/policy is "notebook", which names no GpuPolicy that is known\. Known are .*notebooks.*\.\n$/,
    );
  });

  describe('a namespace that is taken through the modes', () => {
    beforeAll(() => namespace('modes', 'gpugate.dev/policy=latency-inference'));
    const CHANGE = `GPU110 container "c": ${GPU} 1 -> ${slice('1g.10gb')} 1; GPU130: toleration of nvidia.com/gpu:NoSchedule`;
    const SLICES = /^Warning: GPU112 .*"c": would get 2 slices of nvidia\.com\/mig-1g\.10gb/;
    /** What kubectl says of each, and whether it is taken. */
    const observe = async () => {
      const one = [container('c')];
      const [good, bad, template, badTemplate] = await Promise.all([
        dry(pod('p', 'modes', one)),
        dry(pod('p', 'modes', [two])),
        dry(deployment('d', 'modes', 1, one)),
        dry(deployment('d', 'modes', 1, [two])),
      ]);
      return { good, bad, template, badTemplate };
    };
    const enter = async (mode: string) => {
      await cluster.must(`label namespace modes gpugate.dev/mode=${mode} --overwrite`);
      await sleep(500);
      return observe();
    };

    test('audit: nothing is said, refused or changed', async () => {
      const seen = await enter('audit');
      for (const [what, { code, stderr }] of Object.entries(seen)) expect([what, code, stderr]).toEqual([what, 0, '']);
      expect(JSON.parse(seen.good.stdout).spec.containers[0].resources.limits).toEqual({ [GPU]: '1' });
    });

    test('warn: all is said, nothing is refused or changed', async () => {
      const { good, bad, template, badTemplate } = await enter('warn');
      expect([good, bad, template, badTemplate].map(({ code }) => code)).toEqual([0, 0, 0, 0]);
      expect(good.stderr).toBe(`Warning: gpugate would change: ${CHANGE}\n`);
      expect(JSON.parse(good.stdout).spec.containers[0].resources.limits).toEqual({ [GPU]: '1' });
      expect(bad.stderr).toMatch(new RegExp(SLICES, 'm'));
      expect(template.stderr).toBe(`Warning: gpugate would change: ${CHANGE}\n`);
      expect(badTemplate.stderr).toMatch(new RegExp(SLICES, 'm'));
    });

    test('enforce: pods are changed or refused, workloads told', async () => {
      const { good, bad, template, badTemplate } = await enter('enforce');
      expect([good, bad, template, badTemplate].map(({ code }) => code)).toEqual([0, 1, 0, 0]);
      expect(good.stderr).toBe(`Warning: ${CHANGE}\n`);
      expect(JSON.parse(good.stdout).spec.containers[0].resources.limits).toEqual({ [slice('1g.10gb')]: '1' });
      expect(bad.stderr).toContain(
        'gpugate: 1 problem with the GPU request of pod "p" (policy "latency-inference", namespace modes)',
      );
      expect(bad.stderr).toContain(' - GPU112 spec.containers[0] "c": would get 2 slices');
      expect(template.stderr).toBe(`Warning: gpugate would change: ${CHANGE}\n`);
      expect(badTemplate.stderr).toMatch(new RegExp(SLICES, 'm'));
    });

    test('a fraction is refused in all of them', async () => {
      for (const mode of ['audit', 'warn']) {
        await enter(mode);
        const { code, stderr } = await dry(pod('p', 'modes', [container('c', { limits: { [GPU]: 0.5 } })]));
        expect([code, stderr.includes('GPU002')]).toEqual([1, true]);
      }
    });
  });
});
