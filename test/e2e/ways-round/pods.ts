import { container, pod } from '../governed.ts';

/** A way round the device plugin: what a pod has beside an ordinary one, and the field that a refusal names. */
export interface Way {
  readonly code: 'GPU151' | 'GPU152';
  readonly field: string;
  readonly spec?: object;
  readonly annotations?: Readonly<Record<string, string>>;
}

const NAME = 'NVIDIA_VISIBLE_DEVICES';
const GPU = { limits: { 'nvidia.com/gpu': '1' } };

/** `ways({...})` of a container without a GPU. */
const web = (more: object, spec: object = {}) => ({ containers: [container('web', {}, more)], ...spec });

const variable = (env: readonly object[], index = 0): Way => ({
  code: 'GPU151',
  field: `spec.containers[0].env[${index}]`,
  spec: web({ env }, { volumes: [{ name: 'files', emptyDir: {} }] }),
});
const hostPath = (path: string): Way => ({
  code: 'GPU152',
  field: 'spec.volumes[0].hostPath.path',
  spec: web({ volumeMounts: [{ name: 'v', mountPath: '/host' }] }, { volumes: [{ name: 'v', hostPath: { path } }] }),
});
const annotation = (name: string): Way => ({
  code: 'GPU152',
  field: `metadata.annotations[${name}]`,
  annotations: { [name]: 'nvidia.com/gpu=all' },
});
const beside = (securityContext: object, field: string): Way => ({
  code: 'GPU152',
  field: `spec.containers[0].securityContext.${field}`,
  spec: { containers: [container('side', {}, { securityContext }), container('train', GPU)] },
});

/** Each is refused in a namespace that denies; those of `OPENED_BY_IMAGE` only where the image's own variable counts. */
export const WAYS: Readonly<Record<string, Way>> = {
  'all by variable': variable([{ name: NAME, value: 'all' }]),
  'a UUID by variable': variable([{ name: NAME, value: 'GPU-00000000-1111-2222-3333-444444444444' }]),
  'an index by variable': variable([{ name: NAME, value: '0' }]),
  'a variable from a ConfigMap': variable([
    { name: NAME, valueFrom: { configMapKeyRef: { name: 'm', key: 'k', optional: true } } },
  ]),
  'a variable from a file': variable([
    { name: NAME, valueFrom: { fileKeyRef: { volumeName: 'files', path: 'site.env', key: NAME } } },
  ]),
  'a variable from the pod’s own fields': variable([
    { name: NAME, valueFrom: { fieldRef: { fieldPath: "metadata.annotations['devices']" } } },
  ]),
  'a variable expanded from another': variable(
    [
      { name: 'D', value: 'all' },
      { name: NAME, value: '$(D)' },
    ],
    1,
  ),
  'a variable set twice': variable(
    [
      { name: NAME, value: 'void' },
      { name: NAME, value: 'all' },
    ],
    1,
  ),
  'the swarm variable': variable([{ name: 'DOCKER_RESOURCE_GPU', value: 'all' }]),
  'the variable of all slices': variable([{ name: 'NVIDIA_MIG_CONFIG_DEVICES', value: 'all' }]),
  'the volume-mount form': {
    code: 'GPU152',
    field: 'spec.containers[0].volumeMounts[0]',
    spec: web(
      { volumeMounts: [{ name: 'v', mountPath: '/var/run/nvidia-container-devices/all' }] },
      { volumes: [{ name: 'v', hostPath: { path: '/dev/null' } }] },
    ),
  },
  'the volume-mount form by another file': {
    code: 'GPU152',
    field: 'spec.containers[0].volumeMounts[0]',
    spec: web(
      { volumeMounts: [{ name: 'v', mountPath: '/var/run/./nvidia-container-devices/0' }] },
      { volumes: [{ name: 'v', hostPath: { path: '/srv/null' } }] },
    ),
  },
  ...Object.fromEntries(
    [
      ...[
        '/dev',
        '//dev',
        '/./dev',
        'dev',
        '/',
        '/dev/nvidia0',
        '/dev/char/195:0',
        '/proc/1/root/dev',
        '/var/lib/kubelet',
      ],
      ...[
        '/var/lib/kubelet/device-plugins',
        '/run',
        '/var/run',
        '/var/run/containerd/containerd.sock',
        '/run/nri/nri.sock',
      ],
    ].map((path) => [`the hostPath ${path}`, hostPath(path)]),
  ),
  ...Object.fromEntries(
    ['nvidia.cdi.k8s.io', 'nvidia.cdi.k8s.io/pod', 'nvidia.cdi.k8s.io/container.web'].map((name) => [
      `the annotation ${name}`,
      annotation(name),
    ]),
  ),
  'a privileged container beside a GPU': beside({ privileged: true }, 'privileged'),
};

/** What lets an image name its GPUs: closed where every container is `void`, refused elsewhere. */
export const OPENED_BY_IMAGE: Readonly<Record<string, Way>> = {
  'CAP_SYS_ADMIN beside a GPU': beside({ capabilities: { add: ['SYS_ADMIN'] } }, 'capabilities.add[0]'),
  'the NVIDIA runtime without a GPU': {
    code: 'GPU152',
    field: 'spec.runtimeClassName',
    spec: web({}, { runtimeClassName: 'nvidia' }),
  },
};

export function podBy({ spec, annotations = {} }: Way, namespace: string): object {
  const made = pod('way', namespace, [container('web', {})], spec) as { metadata: object };
  return { ...made, metadata: { ...made.metadata, annotations } };
}
