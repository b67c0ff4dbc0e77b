import { asking, container, governed, ONE_GPU, pod, table } from './testing.ts';

const policy = governed({});
const selector = { nodeSelector: { 'nvidia.com/gpu.present': 'true' } };
const note = (field: string, value: string) => [{ severity: 'note', field, value }];

table('GPU162', {
  'a node selector of GPU nodes': {
    policy,
    pod: pod(container('web'), selector),
    want: note('spec.nodeSelector', 'nvidia.com/gpu.present'),
  },
  'a toleration of the taint of GPU nodes': {
    policy,
    pod: pod(container('web'), { tolerations: [{ key: 'nvidia.com/gpu', operator: 'Exists' }] }),
    want: note('spec.tolerations', 'nvidia.com/gpu'),
  },
  'a toleration of everything says nothing of GPUs': {
    policy,
    pod: pod(container('agent'), { tolerations: [{ operator: 'Exists' }] }),
    want: [],
  },
  'a pod that asks for a GPU may pick its node': { policy, pod: pod(asking(ONE_GPU), selector), want: [] },
  'so may one with a claim': {
    policy,
    pod: pod(container('c', { resources: { claims: [{ name: 'g' }] } }), selector),
    want: [],
  },
});
