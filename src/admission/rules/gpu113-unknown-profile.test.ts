import { asking, labelled, ONE_GPU, pod, table } from './testing.ts';

const slice = (profile: string, count = 1) => pod(asking({ [`nvidia.com/mig-${profile}`]: count }));
const warned = (profile: string) => {
  const name = `nvidia.com/mig-${profile}`;
  return [{ severity: 'warning', field: `spec.containers[0].resources.limits[${name}]`, value: name }];
};

table('GPU113', {
  'a profile that some board has is known': { pod: slice('1g.10gb'), want: [] },
  'a variant that some board has is known': { pod: slice('1g.24gb-me'), want: [] },
  'a profile that no board has is a warning': { pod: slice('1g.11gb'), want: warned('1g.11gb') },
  'a name that is no profile is a warning': { pod: slice('small'), want: warned('small') },
  'a name without a profile is a warning': { pod: slice(''), want: warned('') },
  'a compute instance is never advertised': { pod: slice('1c.2g.20gb'), want: warned('1c.2g.20gb') },
  'zero of it asks for nothing': { pod: slice('1g.11gb', 0), want: [] },
  'a label with such a profile is an error for GPU pods': {
    pod: pod(asking(ONE_GPU)),
    policy: labelled({ 'mig-profile': '1g.11gb' }),
    want: [{ severity: 'error', field: 'metadata.namespace', value: '1g.11gb' }],
  },
});
