import { asking, container, governed, labelled, ONE_GPU, pod, table, withEnv } from './testing.ts';

const policy = labelled({ 'visible-devices': 'deny' });
const NAME = 'NVIDIA_VISIBLE_DEVICES';
const value = (text: string) => pod(withEnv({ [NAME]: text }));
const refused = (text?: string, index = 0, severity = 'error') => [
  { severity, field: `spec.containers[0].env[${index}]`, ...(text === undefined ? {} : { value: text }) },
];
const UUID = 'GPU-00000000-1111-2222-3333-444444444444';
const all = { env: [{ name: NAME, value: 'all' }] };

table('GPU151', {
  all: { pod: value('all'), policy, want: refused('all') },
  'an index': { pod: value('0'), policy, want: refused('0') },
  'a list': { pod: value('0,1'), policy, want: refused('0,1') },
  'a UUID': { pod: value(UUID), policy, want: refused(UUID) },
  'a slice by UUID': { pod: value('MIG-0'), policy, want: refused('MIG-0') },
  'a CDI name': { pod: value('nvidia.com/gpu=all'), policy, want: refused('nvidia.com/gpu=all') },
  'spaces around all': { pod: value(' all '), policy, want: refused(' all ') },
  'none beside an index opens the index': { pod: value('none,0'), policy, want: refused('none,0') },
  'void opens nothing': { pod: value('void'), policy, want: [] },
  'void in a list makes the list void': { pod: value('0,void'), policy, want: [] },
  'none opens nothing': { pod: value('none'), policy, want: [] },
  'empty opens nothing': { pod: value(''), policy, want: [] },
  'a value that is no text is left to the API server': { pod: pod(withEnv({ [NAME]: 1 })), policy, want: [] },
  'valueFrom cannot be seen': {
    pod: pod(withEnv([{ name: NAME, valueFrom: { secretKeyRef: { name: 's', key: 'k' } } }])),
    policy,
    want: refused(),
  },
  'nor can a key of a file': {
    pod: pod(withEnv([{ name: NAME, valueFrom: { fileKeyRef: { volumeName: 'v', path: 'site.env', key: NAME } } }])),
    policy,
    want: refused(),
  },
  'another variable cannot be seen': { pod: value('$(DEVICES)'), policy, want: refused('$(DEVICES)') },
  'another variable in part of the value': { pod: value('vo$(X)'), policy, want: refused('vo$(X)') },
  'the first of two entries counts, whatever the last one says': {
    pod: pod(
      withEnv([
        { name: NAME, value: 'all' },
        { name: NAME, value: 'void' },
      ]),
    ),
    policy,
    want: refused('all'),
  },
  'the last of two entries counts': {
    pod: pod(
      withEnv([
        { name: NAME, value: 'void' },
        { name: NAME, value: 'all' },
      ]),
    ),
    policy,
    want: refused('all', 1),
  },
  'the swarm variable of the toolkit': {
    pod: pod(withEnv({ DOCKER_RESOURCE_GPU: UUID })),
    policy,
    want: refused(UUID),
  },
  'the variables that open all slices': {
    pod: pod(withEnv({ NVIDIA_MIG_CONFIG_DEVICES: 'all', NVIDIA_MIG_MONITOR_DEVICES: 'all' })),
    policy,
    want: [...refused('all'), ...refused('all', 1)],
  },
  'variables that open no device': {
    pod: pod(withEnv({ NVIDIA_DRIVER_CAPABILITIES: 'all', CUDA_VISIBLE_DEVICES: '0' })),
    policy,
    want: [],
  },
  'every kind of container': {
    pod: pod(container('app', all), {
      initContainers: [container('init', all)],
      ephemeralContainers: [container('debug', all)],
    }),
    policy,
    want: ['initContainers', 'containers', 'ephemeralContainers'].map((list) => ({
      severity: 'error',
      field: `spec.${list}[0].env[0]`,
      value: 'all',
    })),
  },
  'only the new ephemeral container of a running pod': {
    pod: pod(container('app', all), { ephemeralContainers: [container('old', all), container('debug', all)] }),
    before: pod(container('app', all), { ephemeralContainers: [container('old', all)] }),
    policy,
    want: [{ severity: 'error', field: 'spec.ephemeralContainers[1].env[0]', value: 'all' }],
  },
  'a policy may warn': {
    pod: value('all'),
    policy: governed({ visibleDevices: 'warn' }),
    want: refused('all', 0, 'warning'),
  },
  'void refuses as deny does': {
    pod: value('all'),
    policy: labelled({ 'visible-devices': 'void' }),
    want: refused('all'),
  },
  'ignore says nothing': { pod: value('all'), policy: labelled({ mode: 'enforce' }), want: [] },
  'a DRA claim is no excuse': {
    pod: pod(container('train', { ...all, resources: { claims: [{ name: 'gpu' }] } })),
    policy,
    want: refused('all'),
  },
  'a pod of another scheduler gets its GPUs in a way of its own': {
    pod: pod(asking(ONE_GPU, ONE_GPU, all), { schedulerName: 'kai' }),
    policy: governed({ visibleDevices: 'deny', otherSchedulers: ['kai'] }),
    want: [],
  },
  'without a policy nothing is said': { pod: value('all'), want: [] },
});
