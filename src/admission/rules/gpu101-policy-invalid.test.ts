import { asking, container, governed, labelled, ONE_GPU, pod, table } from './testing.ts';

const one = pod(asking(ONE_GPU));
const none = pod(container('web'));
const NAMESPACE = 'metadata.namespace';
const annotated = (name: string, value: string) => pod(asking(ONE_GPU), {}, { [`gpugate.dev/${name}`]: value });
const annotation = (name: string, value: string, severity = 'error') => [
  { severity, field: `metadata.annotations[gpugate.dev/${name}]`, value },
];
const mig = labelled({ 'mig-profile': '1g.10gb' });
const capped = governed({ sharing: 'time-slicing', memoryCap: { amount: '4Gi' } });

table('GPU101', {
  'a label that is not understood is an error': {
    pod: one,
    policy: labelled({ mode: 'strict' }),
    want: [{ severity: 'error', field: NAMESPACE, value: 'strict' }],
  },
  'every label that is not understood is told': {
    pod: one,
    policy: labelled({ sharing: 'mgi', 'max-gpus': '-1', 'memory-cap': '8 Gi' }),
    want: ['-1', '8 Gi', 'mgi'].map((value) => ({ severity: 'error', field: NAMESPACE, value })),
  },
  'a pod without GPUs is not held up by it': { pod: none, policy: labelled({ mode: 'strict' }), want: [] },
  'a pod with zero GPUs is not held up by it': {
    pod: pod(asking({ 'nvidia.com/gpu': 0 })),
    policy: labelled({ mode: 'strict' }),
    want: [],
  },
  'a policy that does not exist is an error': {
    pod: one,
    policy: labelled({ policy: 'notebooks' }),
    want: [{ severity: 'error', field: NAMESPACE, value: 'notebooks' }],
  },
  'MIG without a profile is an error': {
    pod: one,
    policy: labelled({ sharing: 'mig' }),
    want: [{ severity: 'error', field: NAMESPACE, value: 'mig' }],
  },
  'an unknown label is a warning, for every pod': {
    pod: none,
    policy: labelled({ shring: 'mig' }),
    want: [{ severity: 'warning', field: NAMESPACE, value: 'mig' }],
  },
  'void in a policy warns while the namespace lacks the label': {
    pod: one,
    policy: governed({ visibleDevices: 'void' }),
    want: [{ severity: 'warning', field: NAMESPACE, value: 'void' }],
  },
  'and does not where the label stands': {
    pod: one,
    policy: governed({ visibleDevices: 'void' }, { 'gpugate.dev/visible-devices': 'void' }),
    want: [],
  },
  'a wish that is no profile is an error': {
    pod: annotated('mig-profile', 'small'),
    policy: mig,
    want: annotation('mig-profile', 'small'),
  },
  'a wish for memory that is no quantity is an error': {
    pod: annotated('min-memory', 'lots'),
    policy: mig,
    want: annotation('min-memory', 'lots'),
  },
  'a wish for no memory is an error': {
    pod: annotated('min-memory', '0'),
    policy: mig,
    want: annotation('min-memory', '0'),
  },
  'a wish for a profile outside of MIG is a warning': {
    pod: annotated('mig-profile', '1g.10gb'),
    policy: capped,
    want: annotation('mig-profile', '1g.10gb', 'warning'),
  },
  'a cap that is no amount is an error': {
    pod: annotated('memory-cap', 'lots'),
    policy: capped,
    want: annotation('memory-cap', 'lots'),
  },
  'a cap too small for any program is an error': {
    pod: annotated('memory-cap', '255Mi'),
    policy: capped,
    want: annotation('memory-cap', '255Mi'),
  },
  'a percentage above a hundred is an error': {
    pod: annotated('memory-cap', '101%'),
    policy: capped,
    want: annotation('memory-cap', '101%'),
  },
  'a long wish is cut': {
    pod: annotated('memory-cap', `\n${'x'.repeat(9000)}`),
    policy: capped,
    want: annotation('memory-cap', ` ${'x'.repeat(39)}...`),
  },
  'a wish in a template is named by its path': {
    pod: annotated('mig-profile', 'small'),
    policy: mig,
    path: ['spec', 'template'],
    want: [{ severity: 'error', field: 'spec.template.metadata.annotations[gpugate.dev/mig-profile]', value: 'small' }],
  },
  'wishes are not read under a broken policy': {
    pod: annotated('mig-profile', 'small'),
    policy: labelled({ sharing: 'mgi' }),
    want: [{ severity: 'error', field: NAMESPACE, value: 'mgi' }],
  },
  'wishes are not read in a pod that is left to another scheduler': {
    pod: pod(asking(ONE_GPU), { schedulerName: 'kai' }, { 'gpugate.dev/mig-profile': 'small' }),
    policy: governed({ sharing: 'mig', mig: { profile: '1g.10gb' }, otherSchedulers: ['kai'] }),
    want: [],
  },
  'wishes mean nothing without a policy': { pod: annotated('mig-profile', 'small'), want: [] },
});
