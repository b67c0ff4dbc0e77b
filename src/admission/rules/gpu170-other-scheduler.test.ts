import { asking, governed, ONE_GPU, pod, table } from './testing.ts';

const policy = governed({ otherSchedulers: ['kai-scheduler', 'volcano'] });
const by = (schedulerName: unknown) => pod(asking(ONE_GPU), { schedulerName });
const left = [{ severity: 'note', field: 'spec.schedulerName', value: 'volcano' }];

table('GPU170', {
  'a scheduler that the policy lists': { pod: by('volcano'), policy, want: left },
  'the default scheduler': { pod: by('default-scheduler'), policy, want: [] },
  'no scheduler': { pod: pod(asking(ONE_GPU)), policy, want: [] },
  'part of a name': { pod: by('volcano-2'), policy, want: [] },
  'a scheduler that no policy lists': { pod: by('volcano'), policy: governed({}), want: [] },
  'a template is named by its path': {
    pod: by('volcano'),
    path: ['spec', 'template'],
    policy,
    want: [{ ...left[0], field: 'spec.template.spec.schedulerName' }],
  },
});
