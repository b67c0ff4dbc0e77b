import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { valuesSchema } from '../../scripts/chart/values.ts';
import { TEMPLATE_KINDS } from '../../src/admission/template-kinds.ts';
import { readConfiguration } from '../../src/commands/configuration.ts';
import { FLAGS } from '../../src/commands/flags.ts';
import { CHART, type Helm, helmFor, mustHelm } from '../cluster/helm.ts';
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

describe('how many replicas there are', () => {
  test('is left to others where replicas is null, and a node is drained one replica at a time', async () => {
    const manifests = await render(...set('replicas=null'));
    const { spec } = one(manifests, 'Deployment');
    expect(spec).not.toHaveProperty('replicas');
    expect(spec.template).toEqual(one(await render(), 'Deployment').spec.template);
    expect(one(manifests, 'PodDisruptionBudget').spec).toMatchObject({ maxUnavailable: 1 });
  });

  test.each([
    ['1', ['NOTE: there is one replica.']],
    ['2', []],
    ['null', ['NOTE: replicas is null, so the chart leaves their number alone.']],
  ])('what is told after an install with %s', async (replicas, expected) => {
    const args = ['install', 'gpugate', CHART, '--dry-run=client', ...set(`replicas=${replicas}`)];
    const [, notes = ''] = (await mustHelm(helm, args)).split('NOTES:');
    expect(notes.match(/NOTE: [^.]*replica[^.]*\./g) ?? []).toEqual(expected);
  });
});

describe('where the NetworkPolicy lets replicas go', () => {
  const egressOf = async (...args: readonly string[]) => one(await render(...args), 'NetworkPolicy').spec.egress;
  const apiServer = [443, 6443].map((port) => ({ port, protocol: 'TCP' }));
  const dns = (ports: readonly number[]) => {
    return { ports: ports.flatMap((port) => ['UDP', 'TCP'].map((protocol) => ({ port, protocol }))) };
  };

  test('to the API server, and to DNS, since KUBERNETES_SERVICE_HOST may be a name', async () => {
    expect(await egressOf()).toEqual([{ ports: apiServer }, dns([53, 5353, 8053])]);
  });

  test('DNS keeps its way where the addresses of the API server are known', async () => {
    const to = [{ ipBlock: { cidr: '10.0.0.1/32' } }];
    const egress = await egressOf(...set('networkPolicy.apiServerCIDRs={10.0.0.1/32}', 'networkPolicy.dnsPorts={53}'));
    expect(egress).toEqual([{ ports: apiServer, to }, dns([53])]);
  });

  test('and further, as values say', async () => {
    const further = { to: [{ ipBlock: { cidr: '192.0.2.0/24' } }], ports: [{ port: 3128 }] };
    const json = `networkPolicy.extraEgress=${JSON.stringify([further])}`;
    const egress = await egressOf('--set-json', json, '--set-json', 'networkPolicy.dnsPorts=[]');
    expect(egress).toEqual([{ ports: apiServer }, further]);
  });
});

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

describe('values that could not work are refused with the fix', () => {
  test.each([
    ['shutdownDelay=301s', 'shutdownDelay: 301s is too long; give 300s or less'],
    [
      'terminationGracePeriodSeconds=30',
      'terminationGracePeriodSeconds: 30 is too short for shutdownDelay (10s) and the 20 s after it that answers under way may take; give 31 or more',
    ],
    ['shutdownDelay=25s', 'terminationGracePeriodSeconds: 45 is too short for shutdownDelay (25s)'],
    ['ports.metrics=8443', 'ports.metrics: 8443 is ports.webhook too; give another port'],
    [
      'hostNetwork=true,ports.webhook=10250',
      "ports.webhook: 10250 is the kubelet's on every node; give another port, such as 10260, or leave out hostNetwork",
    ],
    [
      'hostNetwork=true,ports.metrics=900',
      "ports.metrics: 900 is only root's on the node's network; give 1024 or more",
    ],
    ['dnsPolicy=None', 'dnsPolicy: None leaves the pods without a name server; give dnsConfig.nameservers'],
    ['host=127.0.0.1', 'host: 127.0.0.1 is reached by nobody outside of the pod; leave it empty, or give "::"'],
    ['host=::1', 'host: ::1 is reached by nobody'],
    ['certificates.own.lifetime=9s', 'certificates.own.lifetime: 9s is not between 10s and 365d; give one such as 90d'],
    ['certificates.own.lifetime=8761h', 'certificates.own.lifetime: 8761h is not between 10s and 365d'],
    [
      'certificates.source=cert-manager,certificates.certManager.duration=720h',
      'certificates.certManager.renewBefore: 720h is not shorter than duration (720h); give a third of it',
    ],
    [
      'certificates.source=cert-manager,certificates.certManager.duration=59m,certificates.certManager.renewBefore=10m',
      'certificates.certManager.duration: 59m is less than the hour that cert-manager asks for; give 1h or more',
    ],
    [
      'certificates.source=cert-manager,certificates.certManager.renewBefore=299s',
      'certificates.certManager.renewBefore: 299s is less than the five minutes that cert-manager asks for; give 5m or more',
    ],
    [
      'certificates.source=cert-manager,certificates.certManager.duration=87601h',
      'certificates.certManager.duration: 87601h is longer than its CA lives, 87600h; give less, or an issuerRef',
    ],
    [
      'certificates.source=cert-manager,certificates.certManager.issuerRef.kind=ClusterIssuer',
      'certificates.certManager.issuerRef: has no name; give the name of the ClusterIssuer, or leave issuerRef empty for an own CA',
    ],
    [
      'certificates.certManager.issuerRef.name=ours',
      'certificates.certManager.issuerRef: is of no use with certificates.source own; set that to cert-manager, or leave this out',
    ],
    [
      'certificates.secret.name=tls',
      'certificates.secret.name: is of no use with certificates.source own; set that to secret, or leave this out',
    ],
    [
      'clientCertificates.names={front-proxy-client}',
      'clientCertificates.names: is of no use without clientCertificates.caConfigMap; give that too, or leave this out',
    ],
    [
      'serviceAccount.create=false,serviceAccount.annotations.note=yes',
      'serviceAccount.annotations: is of no use where serviceAccount.create is false; set them on the account itself',
    ],
    [
      'podDisruptionBudget.maxUnavailable=2',
      'podDisruptionBudget.maxUnavailable: 2 lets all 2 replicas be away at once; give less, or more replicas',
    ],
    ['podDisruptionBudget.maxUnavailable=51%', 'podDisruptionBudget.maxUnavailable: 51% lets all 2 replicas'],
    [
      'updateStrategy.rollingUpdate.maxSurge=0,updateStrategy.rollingUpdate.maxUnavailable=0%',
      'updateStrategy.rollingUpdate: maxSurge and maxUnavailable are both 0, so no replica could ever be replaced; give one of them 1 or more',
    ],
    [
      'updateStrategy.type=Recreate,updateStrategy.rollingUpdate.maxSurge=1',
      'updateStrategy.rollingUpdate: is of no use with the type Recreate; leave it out',
    ],
    [
      'resources.requests.memory=1Gi',
      'resources.requests.memory: 1Gi is more than resources.limits.memory (384Mi); give no more than that',
    ],
    [
      'resources.limits.cpu=0.05',
      'resources.requests.cpu: 100m is more than resources.limits.cpu (0.05); give no more than that',
    ],
    [
      'webhooks.excludedNamespaces={team-a},namespaces.team-a.gpugate\\.dev/policy=notebooks',
      'namespaces.team-a: is never judged, as webhooks.excludedNamespaces says; leave it out of one of the two',
    ],
    ['namespaces.kube-system.gpugate\\.dev/policy=notebooks', 'namespaces.kube-system: is never judged; leave it out'],
    [
      'webhooks.matchConditions[0].name=touches-a-gpu,webhooks.matchConditions[0].expression=true == true',
      'webhooks.matchConditions: touches-a-gpu stands twice, or is one of the chart; give another name',
    ],
    [
      ['0', '1']
        .map((at) => `webhooks.matchConditions[${at}].name=a,webhooks.matchConditions[${at}].expression=1 == 1`)
        .join(','),
      'webhooks.matchConditions: a stands twice',
    ],
    ['test.namespace=gpugate', 'test.namespace: gpugate is never judged; give a namespace that is'],
    ['gpuResources={nvidia.com/gpu,a.kubernetes.io/b}', 'gpuResources: a.kubernetes.io/b is no extended resource'],
    ['extraArgs={--cert-lifetime=1h}', 'extraArgs: --cert-lifetime is set by the chart; use certificates.own.lifetime'],
    ['extraArgs={--port,:9000}', 'extraArgs: --port is set by the chart; use ports.webhook'],
  ])('%s', async (settings, message) => {
    const args = ['template', 'gpugate', CHART, '--namespace', 'gpugate', ...set(settings)];
    const { code, stderr } = await helm(args);
    expect(stderr).toContain(message);
    expect(code).not.toBe(0);
  });

  test.each([
    ['image.repository=registry.example:5000/gpugate:1.0', "at '/image/repository'"],
    ['image.tag=a b', "at '/image/tag'"],
    ['host=all of them', "at '/host'"],
    ['clientCertificates.names={kube-apiserver\\,other}', "at '/clientCertificates/names/0'"],
    ['networkPolicy.apiServerCIDRs={10.0.0.1/33}', "at '/networkPolicy/apiServerCIDRs/0'"],
    ['prometheusRule.runbookBase=https://git.example/main', "at '/prometheusRule/runbookBase'"],
  ])('%s is refused by the schema', async (settings, message) => {
    const { stderr } = await helm(['template', 'gpugate', CHART, ...set(settings)]);
    expect(stderr).toContain(message);
  });

  test.each([
    [{ key: 'team', operator: 'In' }],
    [{ key: 'team', operator: 'Exists', values: ['a'] }],
    [{ key: '', operator: 'Exists' }],
  ])('webhooks.namespaceSelector %j', async (requirement) => {
    const args = [
      'template',
      'gpugate',
      CHART,
      '--set-json',
      `webhooks.namespaceSelector=${JSON.stringify([requirement])}`,
    ];
    expect((await helm(args)).stderr).toContain("at '/webhooks/namespaceSelector/0'");
  });

  test('an image of a registry with a port is none of them, nor are addresses of IPv6', async () => {
    const settings = [
      'image.repository=registry.example:5000/gpugate',
      'networkPolicy.apiServerCIDRs={fd00::1/128}',
      'host=::',
    ];
    await render(...set(...settings));
  });

  test.each(Object.keys(valuesSchema.shape).filter((name) => name !== 'global'))('null instead of %s', async (name) => {
    const { code, stderr } = await helm(['template', 'gpugate', CHART, ...set(`${name}=null`)]);
    if (code !== 0) expect(stderr).toContain(`at '': missing property '${name}'`);
  });

  test.each([
    [[{ name: 'GPUGATE_PORT', value: '9000' }], 'extraEnv: GPUGATE_PORT is set by the chart; use ports.webhook'],
    [[{ name: 'POD_NAMESPACE', value: 'x' }], 'extraEnv: POD_NAMESPACE is set by the chart; leave it out'],
    [[{ name: 'TZ' }, { name: 'TZ' }], 'extraEnv: TZ stands twice; leave out one of the two'],
    [
      [{ name: 'NODE_OPTIONS', value: '--max-old-space-size=1000' }],
      'extraEnv: NODE_OPTIONS: the heap is 60 % of resources.limits.memory; change that instead',
    ],
    [
      [{ name: 'NODE_OPTIONS', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } }],
      "extraEnv: NODE_OPTIONS: give a value, which is put after the chart's own options",
    ],
    [[{ name: 'TZ', value: 1 }], "at '/extraEnv/0/value': got number, want string"],
    [[{ value: 'UTC' }], "at '/extraEnv/0': missing property 'name'"],
  ])('extraEnv %j', async (env, message) => {
    const args = ['template', 'gpugate', CHART, '--set-json', `extraEnv=${JSON.stringify(env)}`];
    expect((await helm(args)).stderr).toContain(message);
  });

  test.each([
    [{ group: 'example.com', kind: 'Run', plural: 'runs', paths: ['spec..template'] }, "at '/templateKinds/0/paths/0'"],
    [{ group: 'Example', kind: 'Run', plural: 'runs', paths: ['spec'] }, "at '/templateKinds/0/group'"],
    [
      { group: '', kind: 'Pod', plural: 'pods', paths: ['spec'] },
      'templateKinds: a Pod is judged itself; leave it out',
    ],
  ])('templateKinds %j', async (kind, message) => {
    const args = ['template', 'gpugate', CHART, '--set-json', `templateKinds=${JSON.stringify([kind])}`];
    expect((await helm(args)).stderr).toContain(message);
  });

  test.each(TEMPLATE_KINDS.filter(({ builtIn }) => builtIn))(
    '$kind is built in',
    async ({ group, kind, plural, paths }) => {
      const json = JSON.stringify([{ group, kind, plural, paths }]);
      const { stderr } = await helm(['template', 'gpugate', CHART, '--set-json', `templateKinds=${json}`]);
      expect(stderr).toContain(`templateKinds: ${kind} is built in; leave it out`);
    },
  );

  test('a kind of templateKinds that stands twice', async () => {
    const kinds = ['spec.a', 'spec.b'].map((path) => ({
      group: 'x.example',
      kind: 'Run',
      plural: 'runs',
      paths: [path],
    }));
    const args = ['template', 'gpugate', CHART, '--set-json', `templateKinds=${JSON.stringify(kinds)}`];
    expect((await helm(args)).stderr).toContain(
      'templateKinds: Run of x.example stands twice; leave out one of the two',
    );
  });

  test('several at once, a line each', async () => {
    const settings = set('ports.metrics=8443', 'certificates.own.lifetime=1s');
    const { stderr } = await helm(['template', 'gpugate', CHART, ...settings]);
    expect(stderr).toMatch(/ports\.metrics: .*\ncertificates\.own\.lifetime: /);
  });
});

describe('what the chart refuses is what `gpugate serve` refuses', () => {
  test('flags that the chart has values for are told from those that it leaves to extraArgs', async () => {
    const refused = Object.values(FLAGS).map(async ({ long }) => {
      const { code } = await helm(['template', 'gpugate', CHART, '--set', `extraArgs={${long}=x}`]);
      return code === 0 ? [long] : [];
    });
    const free = (await Promise.all(refused)).flat();
    expect(free).toEqual(['--policies', '--namespaces', '--nodes', '--kubeconfig']);
  });

  const refusedByChart = async (setting: string) =>
    (await helm(['template', 'gpugate', CHART, ...set(setting)])).code !== 0;
  const refusedByServe = (flag: string, value: string) => {
    const read = readConfiguration({ [flag]: value }, () => 'cli');
    return !read.ok && read.mistakes.some((mistake) => mistake.startsWith(`${FLAGS[flag]?.long} `));
  };

  test.each(['9s', '10s', '1m', '365d', '366d', '8760h', '8761h', '31536001s'])(
    'a lifetime of %s',
    async (lifetime) => {
      const served = readConfiguration({ certLifetime: lifetime }, () => 'default');
      const wrong = !served.ok && served.mistakes.some((mistake) => mistake.includes('is not a life'));
      expect(await refusedByChart(`certificates.own.lifetime=${lifetime}`)).toBe(wrong);
    },
  );

  test.each(['0', '500ms', '1.5s', '300s', '300000ms', '301s', '300.5s', '1.0001s'])('a delay of %s', async (delay) => {
    const settings = ['--set', 'terminationGracePeriodSeconds=400', '--set-string', `shutdownDelay=${delay}`];
    const { code } = await helm(['template', 'gpugate', CHART, ...settings]);
    expect(code !== 0).toBe(refusedByServe('shutdownDelay', delay));
  });
});

describe('NODE_OPTIONS of extraEnv', () => {
  test("stand after the chart's own", async () => {
    const env = [
      { name: 'NODE_OPTIONS', value: '--dns-result-order=ipv6first' },
      { name: 'TZ', value: 'UTC' },
    ];
    const manifests = await render('--set-json', `extraEnv=${JSON.stringify(env)}`);
    const found = one(manifests, 'Deployment').spec.template.spec.containers[0].env;
    expect(found.slice(-2)).toEqual([
      { name: 'NODE_OPTIONS', value: '--max-old-space-size=230 --dns-result-order=ipv6first' },
      { name: 'TZ', value: 'UTC' },
    ]);
  });
});

test('annotations of pods replace none of the chart', async () => {
  const annotations = { 'kubectl.kubernetes.io/default-container': 'other', note: 'yes' };
  const manifests = await render('--set-json', `podAnnotations=${JSON.stringify(annotations)}`);
  expect(one(manifests, 'Deployment').spec.template.metadata.annotations).toEqual({
    'kubectl.kubernetes.io/default-container': 'gpugate',
    note: 'yes',
  });
});

describe('what else of a pod is for values to say', () => {
  const podOf = async (...args: readonly string[]) => one(await render(...args), 'Deployment').spec.template.spec;

  test('users and groups can be left to the cluster, as OpenShift wants, in pods of hooks too', async () => {
    const without = ['runAsUser', 'runAsGroup', 'fsGroup'].map((name) => `podSecurityContext.${name}=null`);
    const manifests = await render(...set(...without));
    const pods = manifests.flatMap(({ kind, spec }) => (kind === 'Pod' ? [spec] : (spec?.template?.spec ?? [])));
    expect(pods).toHaveLength(4);
    for (const { securityContext } of pods) {
      expect(securityContext).toEqual({ runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } });
    }
  });

  test('capabilities and the like of the container', async () => {
    const [{ securityContext }] = (await podOf(...set('containerSecurityContext.seLinuxOptions.type=container_t')))
      .containers;
    expect(securityContext).toMatchObject({ readOnlyRootFilesystem: true, seLinuxOptions: { type: 'container_t' } });
  });

  test.each([
    [[], undefined],
    [['hostNetwork=true'], 'ClusterFirstWithHostNet'],
    [['hostNetwork=true', 'dnsPolicy=Default'], 'Default'],
  ])('how names are found with %j', async (settings, expected) => {
    const { dnsPolicy, dnsConfig } = await podOf(...set(...settings, 'dnsConfig.nameservers={192.0.2.1}'));
    expect({ dnsPolicy, dnsConfig }).toEqual({ dnsPolicy: expected, dnsConfig: { nameservers: ['192.0.2.1'] } });
  });

  const volumes = (name: string) => [
    ...['--set-json', `extraVolumes=${JSON.stringify([{ name, configMap: { name: 'ours' } }])}`],
    ...['--set-json', `extraVolumeMounts=${JSON.stringify([{ name, mountPath: '/ours' }])}`],
  ];

  test('further volumes and where they are mounted', async () => {
    const pod = await podOf(...volumes('ours'));
    expect(pod.volumes.at(-1)).toEqual({ name: 'ours', configMap: { name: 'ours' } });
    expect(pod.containers[0].volumeMounts.at(-1)).toEqual({ name: 'ours', mountPath: '/ours' });
  });

  test.each([
    [volumes('settings'), 'extraVolumes: settings is a volume of the chart; give another name'],
    [
      volumes('ours').slice(0, 2),
      'extraVolumes: ours is mounted nowhere; name it in extraVolumeMounts, or leave it out',
    ],
    [volumes('ours').slice(2), 'extraVolumeMounts: there is no volume ours; add it to extraVolumes'],
  ])('but not %j', async (args, message) => {
    expect((await helm(['template', 'gpugate', CHART, ...args])).stderr).toContain(message);
  });

  test('how many old ReplicaSets are kept', async () => {
    expect(one(await render(...set('revisionHistoryLimit=7')), 'Deployment').spec.revisionHistoryLimit).toBe(7);
  });
});
