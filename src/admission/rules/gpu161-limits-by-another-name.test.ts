import { asking, governed, ONE_GPU, pod, table } from './testing.ts';

const policy = governed({ sharing: 'mig', mig: { profile: '1g.10gb' } });
const quota = (...resources: string[]) => ({ kind: 'ResourceQuota' as const, name: 'gpus', resources });
const range = (...resources: string[]) => ({ kind: 'LimitRange' as const, name: 'range', resources });
const one = pod(asking(ONE_GPU));
const warning = [{ severity: 'warning', field: 'spec' }];
const queued = { ...one, metadata: { labels: { 'kueue.x-k8s.io/queue-name': 'team-a' } } };

table('GPU161', {
  'a quota counts only the old name': { policy, limits: [quota('requests.nvidia.com/gpu')], pod: one, want: warning },
  'a quota counts both names': {
    policy,
    limits: [quota('requests.nvidia.com/gpu', 'requests.nvidia.com/mig-1g.10gb')],
    pod: one,
    want: [],
  },
  'another quota counts the new name': {
    policy,
    limits: [quota('requests.nvidia.com/gpu'), quota('requests.nvidia.com/mig-1g.10gb')],
    pod: one,
    want: [],
  },
  'a quota names the new resource in a form that is never counted': {
    policy,
    limits: [quota('limits.nvidia.com/mig-1g.10gb')],
    pod: one,
    want: warning,
  },
  'a limit range speaks of the old name': { policy, limits: [range('nvidia.com/gpu')], pod: one, want: warning },
  'quotas of other things are of no interest': { policy, limits: [quota('requests.amd.com/gpu')], pod: one, want: [] },
  'nothing is said while quotas are not known': { policy, pod: one, want: [] },
  'nothing is renamed': {
    policy,
    limits: [quota('requests.nvidia.com/gpu')],
    pod: pod(asking({ 'nvidia.com/mig-1g.10gb': 1 })),
    want: [],
  },
  'a queue of Kueue counts by the template': { policy, object: queued, pod: queued, want: warning },
});
