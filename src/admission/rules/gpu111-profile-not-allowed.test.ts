import { asking, container, governed, labelled, ONE_GPU, pod, table } from './testing.ts';

const policy = governed({ sharing: 'mig', mig: { profile: '1g.10gb', allowedProfiles: ['2g.20gb'] } });
const slice = (profile: string, count = 1) => pod(asking({ [`nvidia.com/mig-${profile}`]: count }));
const refused = (profile: string, name = `nvidia.com/mig-${profile}`) => [
  { severity: 'error', field: `spec.containers[0].resources.limits[${name}]`, value: profile },
];
const misfit = (name: string) => [
  { severity: 'error', field: `spec.containers[0].resources.limits[${name}]`, value: name },
];
const wish = (name: string, value: string, containers = asking(ONE_GPU)) =>
  pod(containers, {}, { [`gpugate.dev/${name}`]: value });
const wishRefused = (name: string, value: string) => [
  { severity: 'error', field: `metadata.annotations[gpugate.dev/${name}]`, value },
];

table('GPU111', {
  'the profile of the policy is allowed': { pod: slice('1g.10gb'), policy, want: [] },
  'a profile of its list is allowed': { pod: slice('2g.20gb'), policy, want: [] },
  'another profile is refused': { pod: slice('7g.80gb'), policy, want: refused('7g.80gb') },
  'a variant of an allowed profile is another profile': {
    pod: slice('1g.10gb.me'),
    policy,
    want: refused('1g.10gb.me'),
  },
  'a share of a slice is refused: nothing is shared here': {
    pod: slice('1g.10gb.shared'),
    policy,
    want: misfit('nvidia.com/mig-1g.10gb.shared'),
  },
  'so is a share of a GPU': {
    pod: pod(asking({ 'nvidia.com/gpu.shared': 1 })),
    policy,
    want: misfit('nvidia.com/gpu.shared'),
  },
  'where whole GPUs are the policy, a share is refused': {
    pod: pod(asking({ 'nvidia.com/gpu.shared': 1 })),
    policy: labelled({ sharing: 'exclusive' }),
    want: misfit('nvidia.com/gpu.shared'),
  },
  'where GPUs are shared by time-slicing, a slice is refused': {
    pod: slice('7g.80gb'),
    policy: labelled({ sharing: 'time-slicing' }),
    want: misfit('nvidia.com/mig-7g.80gb'),
  },
  'but the share of a slice that the policy names is what it wants': {
    pod: slice('1g.10gb.shared'),
    policy: governed({ sharing: 'time-slicing', timeSlicing: { resource: 'nvidia.com/mig-1g.10gb.shared' } }),
    want: [],
  },
  'other vendors are not judged': { pod: pod(asking({ 'amd.com/gpu': 1 })), policy, want: [] },
  'zero of another profile asks for nothing': { pod: slice('7g.80gb', 0), policy, want: [] },
  'a profile that no board has is refused as well': { pod: slice('9g.1gb'), policy, want: refused('9g.1gb') },
  'a profile label is the only one allowed without a list': {
    pod: slice('2g.20gb'),
    policy: labelled({ 'mig-profile': '1g.10gb' }),
    want: refused('2g.20gb'),
  },
  'a wish for another profile is refused': {
    pod: wish('mig-profile', '7g.80gb'),
    policy,
    want: wishRefused('mig-profile', '7g.80gb'),
  },
  'a wish for more memory than any slice has is refused': {
    pod: wish('min-memory', '80Gi'),
    policy,
    want: wishRefused('min-memory', '80Gi'),
  },
  'a wish of a pod without GPUs does nothing': {
    pod: wish('mig-profile', '7g.80gb', container('web')),
    policy,
    want: [],
  },
  'slices are not judged where the policy says nothing of sharing': {
    pod: slice('7g.80gb'),
    policy: labelled({ 'max-gpus': '1' }),
    want: [],
  },
});
