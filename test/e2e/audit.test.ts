import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { type Ended, gpugate } from '../integration/gpugate.ts';
import { container, deployment, type Governed, pod, startGoverned } from './governed.ts';

const GPU = 'nvidia.com/gpu';
const ALL_GPUS = { env: [{ name: 'NVIDIA_VISIBLE_DEVICES', value: 'all' }] };

interface Audited {
  readonly judged: Readonly<Record<string, number>>;
  readonly objects: readonly {
    readonly kind: string;
    readonly namespace?: string;
    readonly name: string;
    readonly pods: number;
    readonly findings: readonly {
      readonly code: string;
      readonly level: string;
      readonly pods: number;
      readonly fix: string;
    }[];
  }[];
  readonly codes: readonly {
    readonly code: string;
    readonly errors: number;
    readonly warnings: number;
    readonly pods: number;
  }[];
  readonly notices: readonly { readonly message: string }[];
}

describe('gpugate audit on a real cluster', () => {
  let cluster: Governed;
  let dir: string;
  beforeAll(async () => {
    cluster = await startGoverned();
    dir = await mkdtemp(join(tmpdir(), 'gpugate-audit-'));
  });
  afterAll(async () => {
    await cluster?.stop();
    if (dir) await rm(dir, { recursive: true });
  });

  const run = (...args: readonly string[]): Promise<Ended> =>
    gpugate(['audit', '--kubeconfig', cluster.plane.kubeconfig, ...args]);

  async function audited(...args: readonly string[]): Promise<Audited & { readonly code: unknown }> {
    const { code, stdout, stderr } = await run('-o', 'json', ...args);
    expect(stderr, 'no progress bar where nobody looks').toBe('');
    return { code, ...JSON.parse(stdout) };
  }

  /** One line a finding. */
  const lines = ({ objects }: Audited) =>
    objects.flatMap(({ kind, namespace, name, findings }) =>
      findings.map(
        ({ code, level, pods }) => `${kind} ${namespace ? `${namespace}/` : ''}${name} ${code} ${level} ${pods}`,
      ),
    );

  async function namespace(name: string): Promise<void> {
    await cluster.must(`create namespace ${name}`);
    await cluster.must(`wait --for=create serviceaccount/default -n ${name} --timeout=20s`);
  }

  /** Says what a kubelet would, of every pod of a namespace. */
  async function phase(name: string, wanted: string, count: number): Promise<void> {
    await vi.waitUntil(
      async () => {
        const { body } = await cluster.api('GET', `/api/v1/namespaces/${name}/pods`);
        return body.items.length >= count;
      },
      { timeout: 60_000, interval: 200 },
    );
    const { body } = await cluster.api('GET', `/api/v1/namespaces/${name}/pods`);
    for (const item of body.items) {
      const path = `/api/v1/namespaces/${name}/pods/${item.metadata.name}/status`;
      const status = {
        phase: wanted,
        conditions: [{ type: 'Ready', status: wanted === 'Running' ? 'True' : 'False' }],
      };
      await cluster.api('PATCH', path, { status }, 'application/strategic-merge-patch+json');
    }
  }

  test('a cluster where all is well has nothing', async () => {
    const audit = await audited();
    expect([audit.code, lines(audit), audit.notices]).toEqual([0, [], []]);
    expect(audit.judged).toMatchObject({ pods: 0, workloads: 0, policies: 5, nodes: 6 });
  });

  describe('with violations that were planted', () => {
    beforeAll(async () => {
      // Made before the namespace had a policy, as what stands in a cluster is when gpugate comes.
      await namespace('old');
      await namespace('ended');
      for (const object of [
        deployment('train', 'old', 3, [container('c')]),
        pod('viewer', 'old', [container('c', {}, ALL_GPUS)]),
        pod('harmless', 'old', [container('c', {})]),
        cronJob('nightly', 'old', [container('c', { limits: { [GPU]: 2 } })]),
        deployment('greedy', 'old', 1, [container('c', {}, ALL_GPUS)]),
      ]) {
        await cluster.must('apply -f -', object);
      }
      await cluster.must('create job nightly-1 -n old --from=cronjob/nightly');
      await phase('old', 'Running', 7);
      await cluster.must('apply -f -', pod('done', 'ended', [container('c', {}, ALL_GPUS)]));
      await phase('ended', 'Succeeded', 1);
      for (const name of ['old', 'ended'])
        await cluster.must(`label namespace ${name} gpugate.dev/policy=latency-inference`);
      // Made by the policy: as it should be.
      await cluster.must('apply -f -', deployment('fine', 'old', 2, [container('c')]));

      await namespace('mistyped');
      await cluster.must('label namespace mistyped gpugate.dev/sharing=both');
      await namespace('counted');
      await cluster.must('create quota gpus -n counted --hard=requests.nvidia.com/gpu=4');
      await cluster.must('label namespace counted gpugate.dev/policy=latency-inference');
      await namespace('watched');
      await cluster.must('label namespace watched gpugate.dev/policy=latency-inference gpugate.dev/mode=warn');
      await cluster.must('apply -f -', pod('peek', 'watched', [container('c', {}, ALL_GPUS)]));
      // Left out of the webhooks, and so of the audit.
      await cluster.must('apply -f -', pod('operand', 'kube-system', [container('c', {}, ALL_GPUS)]));
      await cluster.must('apply -f -', PYTORCH_JOBS);
      await cluster.must('wait crd/pytorchjobs.kubeflow.org --for=condition=Established --timeout=30s');
      await namespace('research');
      await cluster.must('apply -f -', pytorchJob('tune', 'research', [container('c', { limits: { [GPU]: 0.5 } })]));
      await cluster.must('label node a100-mig nvidia.com/mig.config.state=failed --overwrite');
    });

    const PLANTED = [
      'CronJob old/nightly GPU112 error 1',
      'Deployment old/greedy GPU151 error 1',
      'Deployment old/train GPU180 error 3',
      'Pod old/viewer GPU151 error 1',
      'PyTorchJob research/tune GPU002 error 0',
      'Namespace mistyped GPU101 error 0',
      'Namespace counted GPU161 warning 0',
      'Pod watched/peek GPU151 warning 1',
    ];

    test('exactly those are found, under what owns the pods', async () => {
      const audit = await vi.waitUntil(
        async () => {
          const now = await audited();
          return now.judged.pods === 10 && now;
        },
        { timeout: 60_000, interval: 1000 },
      );
      expect(lines(audit).sort()).toEqual([...PLANTED].sort());
      expect(audit.code).toBe(1);
      expect(audit.notices.map(({ message }) => message)).toEqual([
        'node a100-mig: its MIG layout 1g-and-2g is failed',
      ]);
      expect(audit.codes.find(({ code }) => code === 'GPU151')).toMatchObject({ errors: 2, warnings: 1, pods: 3 });
      const train = audit.objects.find(({ name }) => name === 'train');
      expect(train?.findings[0]?.fix).toBe('Make its pods anew: kubectl rollout restart deployment/train -n old.');
    });

    test('one namespace is looked at alone', async () => {
      const audit = await audited('-n', 'watched');
      expect([audit.code, lines(audit)]).toEqual([0, ['Pod watched/peek GPU151 warning 1']]);
      expect((await run('-n', 'watched', '--warnings-as-errors')).code).toBe(1);
    });

    test('-A beside -n is every namespace, as for kubectl', async () => {
      const audit = await audited('-n', 'watched', '-A');
      expect(audit.judged).toMatchObject({ policies: 5, nodes: 6 });
      expect(lines(audit).sort()).toEqual([...PLANTED].sort());
    });

    test('a namespace that is left out is told to be so, and one that is not there is an error', async () => {
      const out = 'namespace kube-system is left out: the API server does not ask gpugate about it';
      const excluded = await audited('-n', 'kube-system');
      expect([excluded.code, excluded.judged.pods, excluded.notices]).toEqual([0, 0, [{ message: out }]]);
      const text = await run('-n', 'watched', '--exclude', 'watched');
      expect([text.code, text.stdout]).toEqual([
        0,
        `notice ${out.replace('kube-system', 'watched')}\n\nnothing in namespace watched was judged.\n`,
      ]);
      expect(await run('-n', 'nons')).toEqual({
        code: 3,
        stdout: '',
        stderr: 'gpugate: namespaces "nons" not found\n',
      });
    });

    test('who may not list the policies is told so, and not that nothing is wrong', async () => {
      await cluster.must('create serviceaccount reader -n default');
      await cluster.must(
        'create clusterrole reader --verb=list --resource=namespaces,nodes,pods,replicationcontrollers,podtemplates,deployments.apps,replicasets.apps,statefulsets.apps,daemonsets.apps,controllerrevisions.apps,jobs.batch,cronjobs.batch,pytorchjobs.kubeflow.org',
      );
      await cluster.must('create clusterrolebinding reader --clusterrole=reader --serviceaccount=default:reader');
      const config = JSON.parse(await cluster.must('config view --raw -o json'));
      config.users[0].user = { token: (await cluster.must('create token reader -n default')).trim() };
      const file = join(dir, 'reader');
      await writeFile(file, JSON.stringify(config));
      const { code, stdout, stderr } = await vi.waitUntil(
        async () => {
          const ended = await gpugate(['audit', '--kubeconfig', file]);
          // RBAC takes a moment.
          return !/namespaces|nodes/.test(ended.stderr) && ended;
        },
        { timeout: 30_000, interval: 500 },
      );
      expect([code, stdout]).toEqual([4, '']);
      expect(stderr).toMatch(/^gpugate: the cluster: gpupolicies.gpugate.dev is forbidden: User /);
    });

    test('the text for people says the same', async () => {
      const { code, stdout } = await run('-n', 'old');
      expect(code).toBe(1);
      expect(stdout).toContain(`Deployment old/train (policy "latency-inference", 3 pods)
  refused GPU180 container "c": lacks what the policy requires (GPU110: nvidia.com/gpu 1 -> nvidia.com/mig-1g.10gb 1): it is older, or came past the webhook.
      Make its pods anew: kubectl rollout restart deployment/train -n old.
      in train-`);
      expect(stdout).toMatch(/9 pods and 4 workloads in namespace old judged: 4 would be refused today\.\n$/);
    });

    test('following the advice leaves nothing of that', async () => {
      await cluster.must('rollout restart deployment/train -n old');
      await vi.waitUntil(
        async () => {
          await phase('old', 'Running', 9);
          return !lines(await audited('-n', 'old')).some((line) => line.includes('old/train'));
        },
        { timeout: 90_000, interval: 1000 },
      );
    });

    test('several formats come of one run', async () => {
      const [html, sarif] = [join(dir, 'audit.html'), join(dir, 'audit.sarif')];
      const { code, stdout } = await run('-o', `html=${html}`, '-o', `sarif=${sarif}`, '-o', 'policyreport');
      expect(code).toBe(1);
      expect(await readFile(html, 'utf8')).toContain('<b>viewer</b>');
      const log = JSON.parse(await readFile(sarif, 'utf8'));
      expect(log.runs[0].results).toHaveLength(PLANTED.length - 1);
      const reports = parseAllDocuments(stdout).map((document) => document.toJS());
      expect(reports.map(({ kind, metadata }) => `${kind} ${metadata.namespace ?? ''}`.trim()).sort()).toEqual([
        'ClusterPolicyReport',
        'PolicyReport old',
        'PolicyReport research',
        'PolicyReport watched',
      ]);
    });

    test('PolicyReports are what the API server takes, every field known to it', async () => {
      for (const crd of [
        policyReportCrd('policyreports', 'PolicyReport', 'Namespaced'),
        policyReportCrd('clusterpolicyreports', 'ClusterPolicyReport', 'Cluster'),
      ]) {
        await cluster.must('apply -f -', crd);
      }
      await cluster.must(
        'wait crd/policyreports.wgpolicyk8s.io crd/clusterpolicyreports.wgpolicyk8s.io --for=condition=Established --timeout=30s',
      );
      const { stdout } = await run('-o', 'policyreport');
      await cluster.must('apply --server-side --validate=strict -f -', stdout);
      const { body } = await cluster.api('GET', '/apis/wgpolicyk8s.io/v1alpha2/namespaces/old/policyreports/gpugate');
      expect(body.summary).toMatchObject({ fail: 3, warn: 0 });
    });
  });

  test('a flag that is none ends with 2, and a kubeconfig that is not there with 3', async () => {
    expect((await run('-o', 'pdf')).code).toBe(2);
    expect((await gpugate(['audit', '--kubeconfig', join(dir, 'absent')])).code).toBe(3);
  });
});

function cronJob(name: string, namespace: string, containers: readonly object[]): object {
  const template = { metadata: { labels: { app: name } }, spec: { containers, restartPolicy: 'Never' } };
  return {
    apiVersion: 'batch/v1',
    kind: 'CronJob',
    metadata: { name, namespace },
    spec: { schedule: '0 0 1 1 *', jobTemplate: { spec: { template } } },
  };
}

function pytorchJob(name: string, namespace: string, containers: readonly object[]): object {
  return {
    apiVersion: 'kubeflow.org/v1',
    kind: 'PyTorchJob',
    metadata: { name, namespace },
    spec: { pytorchReplicaSpecs: { Worker: { replicas: 1, template: { spec: { containers } } } } },
  };
}

/** A custom resource whose schema is not known to the API server. */
const PYTORCH_JOBS = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'pytorchjobs.kubeflow.org' },
  spec: {
    group: 'kubeflow.org',
    names: { kind: 'PyTorchJob', plural: 'pytorchjobs', singular: 'pytorchjob' },
    scope: 'Namespaced',
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
      },
    ],
  },
};

/** The fields of wgpolicyk8s.io/v1alpha2 that gpugate writes, with their types and enums (kubernetes-sigs/wg-policy-prototypes, policy-report). */
function policyReportCrd(plural: string, kind: string, scope: string): object {
  const string = { type: 'string' };
  const integer = { type: 'integer' };
  const object = (properties: object, required: readonly string[] = []) => ({ type: 'object', properties, required });
  const result = object(
    {
      source: string,
      policy: string,
      rule: string,
      category: string,
      message: string,
      scored: { type: 'boolean' },
      result: { type: 'string', enum: ['pass', 'fail', 'warn', 'error', 'skip'] },
      severity: { type: 'string', enum: ['high', 'low', 'medium'] },
      timestamp: object({ seconds: integer, nanos: integer }, ['seconds', 'nanos']),
      resources: {
        type: 'array',
        items: object({ apiVersion: string, kind: string, namespace: string, name: string, uid: string }),
      },
      properties: { type: 'object', additionalProperties: string },
    },
    ['policy'],
  );
  const summary = object({ pass: integer, fail: integer, warn: integer, error: integer, skip: integer });
  const schema = object({
    apiVersion: string,
    kind: string,
    metadata: { type: 'object' },
    summary,
    results: { type: 'array', items: result },
  });
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: {
      name: `${plural}.wgpolicyk8s.io`,
      // Its group is one that Kubernetes keeps (KEP-1111).
      annotations: { 'api-approved.kubernetes.io': 'unapproved, for a test' },
    },
    spec: {
      group: 'wgpolicyk8s.io',
      names: { kind, plural, singular: plural.slice(0, -1) },
      scope,
      versions: [{ name: 'v1alpha2', served: true, storage: true, schema: { openAPIV3Schema: schema } }],
    },
  };
}
