import { expect, it } from 'vitest';
import { patchOf } from '../patch.ts';
import { asking, container, governed, judge, ONE_GPU, pod, table } from './testing.ts';

const policy = governed({ runtimeClassName: 'nvidia' });
const set = [{ type: 'set-runtime-class', name: 'nvidia', required: false }];
const one = pod(asking(ONE_GPU));

table('GPU131', {
  'a GPU pod that names none gets the class of the policy': { pod: one, policy, want: set },
  'so does one whose name is empty': { pod: pod(asking(ONE_GPU), { runtimeClassName: '' }), policy, want: set },
  'so does one with a GPU in an init container': {
    pod: pod(container('app'), { initContainers: [asking(ONE_GPU)] }),
    policy,
    want: set,
  },
  'a class that the pod names stays': { pod: pod(asking(ONE_GPU), { runtimeClassName: 'gvisor' }), policy, want: [] },
  'a pod without a GPU gets none': { pod: pod(container('web')), policy, want: [] },
  'nor one with zero GPUs': { pod: pod(asking({ 'nvidia.com/gpu': 0 })), policy, want: [] },
  'nor one with a GPU of another vendor': { pod: pod(asking({ 'amd.com/gpu': 1 })), policy, want: [] },
  'nothing is set by a policy that names none': { pod: one, policy: governed({}), want: [] },
  'a class that is there is set': { pod: one, policy, runtimeClasses: new Set(['gvisor', 'nvidia']), want: set },
  'a class that is missing is warned of and not set': {
    pod: one,
    policy,
    runtimeClasses: new Set(['gvisor']),
    want: [{ severity: 'warning', field: 'spec.runtimeClassName', value: 'nvidia' }],
  },
  'a running pod cannot change its class': {
    pod: pod(asking(ONE_GPU), { ephemeralContainers: [container('debug')] }),
    before: one,
    policy,
    want: [],
  },
  'a pod of another scheduler is left alone': {
    pod: pod(asking(ONE_GPU), { schedulerName: 'kai' }),
    policy: governed({ runtimeClassName: 'nvidia', otherSchedulers: ['kai'] }),
    want: [],
  },
});

it('the class stands in the spec', () => {
  const { changes } = judge(one, { policy });
  expect(patchOf(one, changes, [])).toContainEqual({ op: 'add', path: '/spec/runtimeClassName', value: 'nvidia' });
});
