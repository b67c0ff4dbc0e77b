import { asking, container, governed, labelled, ONE_GPU, pod, table, withEnv } from './testing.ts';

const policy = labelled({ 'visible-devices': 'void' });
const hidden = (name = 'train', required = true) => ({
  type: 'set-env',
  container: name,
  name: 'NVIDIA_VISIBLE_DEVICES',
  value: 'void',
  required,
});
const claims = { resources: { claims: [{ name: 'gpu' }] } };

table('GPU150', {
  'a container without a GPU': { pod: pod(container('web')), policy, want: [hidden('web')] },
  'a container with zero GPUs': { pod: pod(asking({ 'nvidia.com/gpu': 0 })), policy, want: [hidden()] },
  'a container with a GPU is left: the plugin sets the variable': { pod: pod(asking(ONE_GPU)), policy, want: [] },
  'a container that asks unsoundly is left': { pod: pod(asking({ 'nvidia.com/gpu': '0.5' })), policy, want: [] },
  'every kind of container': {
    pod: pod(asking(ONE_GPU), {
      initContainers: [container('init'), container('sidecar', { restartPolicy: 'Always' })],
      ephemeralContainers: [container('debug')],
    }),
    policy,
    want: [hidden('init'), hidden('sidecar'), hidden('debug')],
  },
  'a container with a DRA claim may get its GPU that way': {
    pod: pod([container('train', claims), container('web')]),
    policy,
    want: [hidden('web')],
  },
  'an empty list of claims brings nothing': {
    pod: pod(container('web', { resources: { claims: [] } })),
    policy,
    want: [hidden('web')],
  },
  'a value of the user is judged by GPU151 and not replaced': {
    pod: pod(withEnv({ NVIDIA_VISIBLE_DEVICES: 'all' }, {})),
    policy,
    want: [],
  },
  'envFrom is overridden, since an explicit variable wins': {
    pod: pod(container('web', { envFrom: [{ configMapRef: { name: 'site' } }] })),
    policy,
    want: [hidden('web')],
  },
  'only the new ephemeral container of a running pod': {
    pod: pod(container('web'), { ephemeralContainers: [container('old'), container('debug')] }),
    before: pod(container('web'), { ephemeralContainers: [container('old')] }),
    policy,
    want: [hidden('debug')],
  },
  'a new ephemeral container with the name of another container is judged': {
    pod: pod(container('web'), { ephemeralContainers: [container('web')] }),
    before: pod(container('web')),
    policy,
    want: [hidden('web')],
  },
  'a policy may say void, for the pods that come; it is not required of a pod that comes to validation alone': {
    pod: pod(container('web')),
    policy: governed({ visibleDevices: 'void' }),
    want: [hidden('web', false)],
  },
  'beside a GPU it is required, since such a pod comes to both': {
    pod: pod([asking(ONE_GPU), container('web')]),
    policy: governed({ visibleDevices: 'void' }),
    want: [hidden('web')],
  },
  'a resource that names a DeviceClass is a claim': {
    pod: pod(asking({ 'deviceclass.resource.kubernetes.io/gpu.nvidia.com': 1 })),
    policy,
    want: [],
  },
  'so is one that a DeviceClass serves under a name of its own': {
    pod: pod([asking({ 'example.com/big-gpu': 1 }), container('web')]),
    policy,
    deviceClassResources: new Set(['example.com/big-gpu']),
    want: [hidden('web')],
  },
  'a resource that no DeviceClass serves brings no GPU': {
    pod: pod(asking({ 'example.com/nic': 1 })),
    policy,
    deviceClassResources: new Set(['example.com/big-gpu']),
    want: [hidden()],
  },
  'a claim of the pod that the container does not use brings it nothing': {
    pod: pod([container('train', claims), container('web')], { resourceClaims: [{ name: 'gpu' }] }),
    policy,
    want: [hidden('web')],
  },
  'deny hides nothing': { pod: pod(container('web')), policy: labelled({ 'visible-devices': 'deny' }), want: [] },
  'a pod of another scheduler gets its GPUs in a way of its own': {
    pod: pod(container('web'), { schedulerName: 'kai' }),
    policy: governed({ otherSchedulers: ['kai'] }, { 'gpugate.dev/visible-devices': 'void' }),
    want: [],
  },
  'a broken label elsewhere does not open the guard': {
    pod: pod(container('web')),
    policy: labelled({ 'visible-devices': 'void', sharing: 'mgi' }),
    want: [hidden('web')],
  },
});
