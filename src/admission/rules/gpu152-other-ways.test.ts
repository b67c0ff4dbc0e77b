import { asking, container, governed, labelled, ONE_GPU, pod, table } from './testing.ts';

const policy = labelled({ 'visible-devices': 'deny' });
const voided = labelled({ 'visible-devices': 'void' });
const error = (field: string, value: string) => [{ severity: 'error', field, value }];
const web = container('web');
const gpu = asking(ONE_GPU);

const annotated = (name: string, value = 'nvidia.com/gpu=all') => pod(web, {}, { [name]: value });
const annotation = (name: string, value = 'nvidia.com/gpu=all') => error(`metadata.annotations[${name}]`, value);

table('GPU152', {
  'a CDI annotation of the pod': {
    pod: annotated('nvidia.cdi.k8s.io/pod'),
    policy,
    want: annotation('nvidia.cdi.k8s.io/pod'),
  },
  'a CDI annotation of a container': {
    pod: annotated('nvidia.cdi.k8s.io/container.web'),
    policy,
    want: annotation('nvidia.cdi.k8s.io/container.web'),
  },
  'the bare CDI annotation': { pod: annotated('nvidia.cdi.k8s.io'), policy, want: annotation('nvidia.cdi.k8s.io') },
  'one whose devices are not known yet': {
    pod: annotated('nvidia.cdi.k8s.io/pod', ''),
    policy,
    want: annotation('nvidia.cdi.k8s.io/pod', ''),
  },
  'other annotations of CDI are read by nobody': { pod: annotated('cdi.k8s.io/x'), policy, want: [] },
  'a GPU is no excuse for an annotation': {
    pod: pod(gpu, {}, { 'nvidia.cdi.k8s.io/pod': 'nvidia.com/gpu=1' }),
    policy,
    want: annotation('nvidia.cdi.k8s.io/pod', 'nvidia.com/gpu=1'),
  },
  'a template is named by its path': {
    pod: annotated('nvidia.cdi.k8s.io/pod'),
    path: ['spec', 'template'],
    policy,
    want: error('spec.template.metadata.annotations[nvidia.cdi.k8s.io/pod]', 'nvidia.com/gpu=all'),
  },
});

const mounting = (path: unknown, mountPath = '/host', containers = [container('web', mounts(mountPath))]) =>
  pod(containers, { volumes: [{ name: 'v', hostPath: { path } }] });
function mounts(mountPath: string) {
  return { volumeMounts: [{ name: 'v', mountPath }] };
}
const volume = (path: string) => error('spec.volumes[0].hostPath.path', path);
const DEVICES = '/var/run/nvidia-container-devices/0';
const mount = (value = DEVICES) => error('spec.containers[0].volumeMounts[0]', value);

table('GPU152', {
  '/dev of the node': { pod: mounting('/dev'), policy, want: volume('/dev') },
  'a device of the node': { pod: mounting('/dev/nvidia0'), policy, want: volume('/dev/nvidia0') },
  'the whole node': { pod: mounting('/'), policy, want: volume('/') },
  'a device that opens no GPU': { pod: mounting('/dev/fuse'), policy, want: [] },
  'a folder of logs': { pod: mounting('/var/log'), policy, want: [] },
  'a volume that no container mounts yet': { pod: mounting('/dev', '/d', [web]), policy, want: volume('/dev') },
  'a path that is no text': { pod: mounting(1), policy, want: [] },
  'a GPU named by a mount': { pod: mounting('/dev/null', DEVICES), policy, want: mount() },
  'by whatever file of the node': { pod: mounting('/srv/x', DEVICES), policy, want: mount() },
  'by a path with detours': {
    pod: mounting('/dev/null', '/var/./run/nvidia-container-devices/all/'),
    policy,
    want: mount('/var/./run/nvidia-container-devices/all/'),
  },
  'a volume that is not of the node names no GPU': {
    pod: pod(container('web', mounts(DEVICES)), { volumes: [{ name: 'v', emptyDir: {} }] }),
    policy,
    want: [],
  },
  'a container that is added mounts what the pod has': {
    pod: pod(web, { volumes: [devVolume()], ephemeralContainers: [container('debug', mounts('/d'))] }),
    before: pod(web, { volumes: [devVolume()] }),
    policy,
    want: error('spec.ephemeralContainers[0].volumeMounts[0]', '/d'),
  },
  'one that does not is not judged by it': {
    pod: pod(web, { volumes: [devVolume()], ephemeralContainers: [container('debug')] }),
    before: pod(web, { volumes: [devVolume()] }),
    policy,
    want: [],
  },
});
function devVolume() {
  return { name: 'v', hostPath: { path: '/dev' } };
}

const privileged = { securityContext: { privileged: true } };
const able = (...add: string[]) => ({ securityContext: { capabilities: { add } } });
const isPrivileged = (index: number) => error(`spec.containers[${index}].securityContext.privileged`, 'true');
const isAble = (index: number, value: string, at = 0) =>
  error(`spec.containers[${index}].securityContext.capabilities.add[${at}]`, value);

table('GPU152', {
  'a privileged container beside a GPU': {
    pod: pod([container('side', privileged), gpu]),
    policy,
    want: isPrivileged(0),
  },
  'a privileged container with a GPU': {
    pod: pod(asking(ONE_GPU, ONE_GPU, privileged)),
    policy,
    want: isPrivileged(0),
  },
  'a privileged container in a pod without a GPU is not our matter': {
    pod: pod(container('agent', privileged)),
    policy,
    want: [],
  },
  'a privileged container with zero GPUs neither': {
    pod: pod(asking({ 'nvidia.com/gpu': 0 }, { 'nvidia.com/gpu': 0 }, privileged)),
    policy,
    want: [],
  },
  'a privileged init container': {
    pod: pod(gpu, { initContainers: [container('init', privileged)] }),
    policy,
    want: error('spec.initContainers[0].securityContext.privileged', 'true'),
  },
  'a privileged debug container added to a GPU pod': {
    pod: pod(gpu, { ephemeralContainers: [container('debug', privileged)] }),
    before: pod(gpu),
    policy,
    want: error('spec.ephemeralContainers[0].securityContext.privileged', 'true'),
  },
  'the capability that the toolkit looks for': {
    pod: pod([container('side', able('NET_ADMIN', 'SYS_ADMIN')), gpu]),
    policy,
    want: isAble(0, 'SYS_ADMIN', 1),
  },
  'in its other spelling': {
    pod: pod([container('side', able('CAP_SYS_ADMIN')), gpu]),
    policy,
    want: isAble(0, 'CAP_SYS_ADMIN'),
  },
  'all capabilities': { pod: pod([container('side', able('ALL')), gpu]), policy, want: isAble(0, 'ALL') },
  'another capability': { pod: pod([container('side', able('IPC_LOCK')), gpu]), policy, want: [] },
  'a container that is void gets nothing by it': {
    pod: pod([
      container('side', { ...able('SYS_ADMIN'), env: [{ name: 'NVIDIA_VISIBLE_DEVICES', value: 'void' }] }),
      gpu,
    ]),
    policy,
    want: [],
  },
  'nor does one that will be': { pod: pod([container('side', able('SYS_ADMIN')), gpu]), policy: voided, want: [] },
  'a void container that is privileged sees all the same': {
    pod: pod([container('side', privileged), gpu]),
    policy: voided,
    want: isPrivileged(0),
  },
});

const classed = (runtimeClassName: string, containers: object = web) => pod(containers as never, { runtimeClassName });
const named = (value: string) => error('spec.runtimeClassName', value);

table('GPU152', {
  'the NVIDIA runtime on a pod that asks for no GPU': { pod: classed('nvidia'), policy, want: named('nvidia') },
  'its class for CDI': { pod: classed('nvidia-cdi'), policy, want: named('nvidia-cdi') },
  'the class that the policy uses': {
    pod: classed('gpu'),
    policy: governed({ visibleDevices: 'deny', runtimeClassName: 'gpu' }),
    want: named('gpu'),
  },
  'another runtime': { pod: classed('gvisor'), policy, want: [] },
  'a pod that asks for a GPU may name its runtime': { pod: classed('nvidia', gpu), policy, want: [] },
  'so may one with a claim': {
    pod: classed('nvidia', container('train', { resources: { claims: [{ name: 'gpu' }] } })),
    policy,
    want: [],
  },
  'it opens nothing where every container is void': { pod: classed('nvidia'), policy: voided, want: [] },
});

const every = pod([container('side', { ...privileged, ...mounts(DEVICES) }), gpu], {
  volumes: [devVolume()],
});

table('GPU152', {
  'a policy may warn': {
    pod: every,
    policy: governed({ visibleDevices: 'warn' }),
    want: [...volume('/dev'), ...mount(), ...isPrivileged(0)].map((finding) => ({ ...finding, severity: 'warning' })),
  },
  'void refuses as deny does': {
    pod: every,
    policy: voided,
    want: [...volume('/dev'), ...mount(), ...isPrivileged(0)],
  },
  'ignore says nothing': { pod: every, policy: labelled({ mode: 'enforce' }), want: [] },
  'without a policy nothing is said': { pod: every, want: [] },
  'a pod of another scheduler gets its GPUs in a way of its own': {
    pod: { ...every, spec: { ...(every.spec as object), schedulerName: 'kai' } },
    policy: governed({ visibleDevices: 'deny', otherSchedulers: ['kai'] }),
    want: [],
  },
});
