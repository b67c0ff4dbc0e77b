import { asking, LIMIT, labelled, pod, table } from './testing.ts';

const limit = (value: unknown) => pod(asking({ 'nvidia.com/gpu': value }));
const noted = [{ severity: 'note', field: LIMIT, value: '0' }];

table('GPU009', {
  'zero is noted': { pod: limit(0), want: noted },
  'zero in milli is noted': { pod: limit('0m'), want: noted },
  'zero is noted in a MIG namespace and not renamed': {
    pod: limit('0'),
    policy: labelled({ 'mig-profile': '1g.10gb' }),
    want: noted,
  },
  'one is not': { pod: limit(1), want: [] },
  'a limit of zero beside a request of one is told by GPU005 alone': {
    pod: pod(asking({ 'nvidia.com/gpu': 0 }, { 'nvidia.com/gpu': 1 })),
    want: [],
  },
});
