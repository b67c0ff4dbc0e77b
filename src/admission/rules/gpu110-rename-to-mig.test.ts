import { asking, container, governed, labelled, ONE_GPU, pod, table } from './testing.ts';

const policy = labelled({ 'mig-profile': '1g.10gb' });
const SLICE = 'nvidia.com/mig-1g.10gb';
const renamed = (name = 'train', quantity = '1', to = SLICE) => ({
  type: 'rename-resource',
  container: name,
  from: 'nvidia.com/gpu',
  to,
  quantity,
  required: true,
});
const dropped = { type: 'drop-resource', container: 'train', resource: 'nvidia.com/gpu', required: true };
const before = { 'gpugate.dev/original': '{"train":{"nvidia.com/gpu":"1"}}' };
const gpu = (name: string, parts = {}) =>
  container(name, { resources: { limits: ONE_GPU, requests: ONE_GPU }, ...parts });

table('GPU110', {
  'a whole GPU becomes the slice of the namespace': { pod: pod(asking(ONE_GPU)), policy, want: [renamed()] },
  'the spelling of the count is kept': {
    pod: pod(asking({ 'nvidia.com/gpu': '1000m' })),
    policy,
    want: [renamed('train', '1000m')],
  },
  'a limit without a request is renamed': { pod: pod(asking(ONE_GPU, {})), policy, want: [renamed()] },
  'every kind of container is renamed alike': {
    pod: pod(gpu('app'), { initContainers: [gpu('init'), gpu('sidecar', { restartPolicy: 'Always' })] }),
    policy,
    want: [renamed('init'), renamed('sidecar'), renamed('app')],
  },
  'zero is not renamed': { pod: pod(asking({ 'nvidia.com/gpu': 0 })), policy, want: [] },
  'a fraction is not renamed': { pod: pod(asking({ 'nvidia.com/gpu': '0.5' })), policy, want: [] },
  'a request that differs is not renamed': { pod: pod(asking(ONE_GPU, { 'nvidia.com/gpu': 2 })), policy, want: [] },
  'a slice that the user names is left': { pod: pod(asking({ [SLICE]: 1 })), policy, want: [] },
  'other vendors are left': { pod: pod(asking({ 'amd.com/gpu': 1 })), policy, want: [] },
  'the wish of the pod is taken where the policy allows it': {
    pod: pod(asking(ONE_GPU), {}, { 'gpugate.dev/mig-profile': 'mig-1g.10gb+me' }),
    policy: governed({ sharing: 'mig', mig: { profile: '1g.10gb', allowedProfiles: ['1g.10gb.me'] } }),
    want: [renamed('train', '1', 'nvidia.com/mig-1g.10gb.me')],
  },
  'a wish that is not allowed renames nothing': {
    pod: pod(asking(ONE_GPU), {}, { 'gpugate.dev/mig-profile': '7g.80gb' }),
    policy,
    want: [],
  },
  'the smallest slice with the wanted memory is taken': {
    pod: pod(asking(ONE_GPU), {}, { 'gpugate.dev/min-memory': '15Gi' }),
    policy: governed({ sharing: 'mig', mig: { profile: '1g.10gb', allowedProfiles: ['3g.40gb', '2g.20gb'] } }),
    want: [renamed('train', '1', 'nvidia.com/mig-2g.20gb')],
  },
  'a slice with exactly the wanted memory is taken': {
    pod: pod(asking(ONE_GPU), {}, { 'gpugate.dev/min-memory': '9728Mi' }),
    policy: governed({ sharing: 'mig', mig: { profile: '1g.5gb', allowedProfiles: ['2g.20gb', '1g.10gb'] } }),
    want: [renamed('train', '1', 'nvidia.com/mig-1g.10gb')],
  },
  'an old name that came back is dropped, whatever its count': {
    pod: pod(asking({ 'nvidia.com/gpu': 8, [SLICE]: 1 }), {}, before),
    policy,
    want: [dropped],
  },
  'an old name of zero beside its slice is left: it asks for none': {
    pod: pod(asking({ 'nvidia.com/gpu': 0, [SLICE]: 1 }), {}, before),
    policy,
    want: [],
  },
  'an unsound old name is not dropped, so that its own rule refuses it': {
    pod: pod(asking({ 'nvidia.com/gpu': '0.5', [SLICE]: 1 }), {}, before),
    policy,
    want: [],
  },
  'an old name without its slice is renamed, annotation or not': {
    pod: pod(asking(ONE_GPU), {}, before),
    policy,
    want: [renamed()],
  },
  'an old name beside zero slices is renamed': {
    pod: pod(asking({ 'nvidia.com/gpu': 1, [SLICE]: 0 }), {}, before),
    policy,
    want: [renamed()],
  },
  'an annotation that is no JSON is passed over': {
    pod: pod(asking(ONE_GPU), {}, { 'gpugate.dev/original': '{"train":' }),
    policy,
    want: [renamed()],
  },
  'nothing is renamed under a broken policy': {
    pod: pod(asking(ONE_GPU)),
    policy: labelled({ 'mig-profile': '1g.10gb', mode: 'strict' }),
    want: [],
  },
  'nothing is renamed for another scheduler': {
    pod: pod(asking(ONE_GPU), { schedulerName: 'kai' }),
    policy: governed({ sharing: 'mig', mig: { profile: '1g.10gb' }, otherSchedulers: ['kai'] }),
    want: [],
  },
  'nothing is renamed where GPUs are shared in another way': {
    pod: pod(asking(ONE_GPU)),
    policy: labelled({ sharing: 'exclusive' }),
    want: [],
  },
});
