import { asking, container, governed, labelled, pod, table } from './testing.ts';

const CONTAINER = 'spec.containers[0].resources.limits';
const gpus = (count: unknown, parts = {}, name = 'nvidia.com/gpu') =>
  asking({ [name]: count }, { [name]: count }, parts);
const perPod = (count: number) => governed({ maxGpus: { perPod: count } });
const perContainer = (count: number) => governed({ maxGpus: { perContainer: count } });
const sidecar = { restartPolicy: 'Always' };
const total = (value: string) => [{ severity: 'error', field: 'spec', value }];

table('GPU102', {
  'a container may have as many as the policy allows': { pod: pod(gpus(2)), policy: perContainer(2), want: [] },
  'one more is refused': {
    pod: pod(gpus(3)),
    policy: perContainer(2),
    want: [{ severity: 'error', field: CONTAINER, value: '3' }],
  },
  'zero allows none': {
    pod: pod(gpus(1)),
    policy: perContainer(0),
    want: [{ severity: 'error', field: CONTAINER, value: '1' }],
  },
  'the spelling does not matter': {
    pod: pod(gpus('1Ki')),
    policy: perContainer(8),
    want: [{ severity: 'error', field: CONTAINER, value: '1024' }],
  },
  'a namespace label limits the pod': {
    pod: pod([gpus(1), gpus(1)]),
    policy: labelled({ 'max-gpus': '1' }),
    want: total('2'),
  },
  'app containers are added up': { pod: pod([gpus(1), gpus(1)]), policy: perPod(1), want: total('2') },
  'an init container hands its GPUs on': {
    pod: pod(gpus(2), { initContainers: [gpus(2)] }),
    policy: perPod(2),
    want: [],
  },
  'the largest init container counts when it is more than the rest': {
    pod: pod(gpus(1), { initContainers: [gpus(1), gpus(3)] }),
    policy: perPod(2),
    want: total('3'),
  },
  'a sidecar runs beside the app': {
    pod: pod(gpus(1), { initContainers: [gpus(1), gpus(1, sidecar)] }),
    policy: perPod(1),
    want: total('2'),
  },
  'a sidecar before an init container runs beside it': {
    pod: pod(container('app'), { initContainers: [gpus(1, sidecar), gpus(2)] }),
    policy: perPod(2),
    want: total('3'),
  },
  'names are counted apart and then added up, since one cannot be handed on as another': {
    pod: pod(gpus(1), { initContainers: [gpus(1, {}, 'amd.com/gpu')] }),
    policy: perPod(1),
    want: total('2'),
  },
  'a whole GPU that becomes the slice of a neighbour is handed on to it': {
    pod: pod(gpus(1, {}, 'nvidia.com/mig-1g.10gb'), { initContainers: [gpus(1)] }),
    policy: governed({ sharing: 'mig', mig: { profile: '1g.10gb' }, maxGpus: { perPod: 1 } }),
    want: [],
  },
  'a resource of the configuration counts': {
    pod: pod(gpus(2, {}, 'example.com/npu')),
    gpuResources: ['example.com/npu'],
    policy: perPod(1),
    want: total('2'),
  },
  'an old name that came back after a rename does not count': {
    pod: pod(
      asking({ 'nvidia.com/gpu': 1, 'nvidia.com/mig-1g.10gb': 1 }),
      {},
      { 'gpugate.dev/original': '{"train":{"nvidia.com/gpu":"1"}}' },
    ),
    policy: governed({ sharing: 'mig', mig: { profile: '1g.10gb' }, maxGpus: { perContainer: 1, perPod: 1 } }),
    want: [],
  },
  'an unsound ask is told by its own rule': { pod: pod(gpus('2.5')), policy: perContainer(1), want: [] },
  'a template is named by its path': {
    pod: pod([gpus(1), gpus(1)]),
    path: ['spec', 'template'],
    policy: perPod(1),
    want: [{ severity: 'error', field: 'spec.template.spec', value: '2' }],
  },
});
