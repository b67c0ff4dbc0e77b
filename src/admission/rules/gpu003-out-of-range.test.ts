import { asking, LIMIT, labelled, pod, table } from './testing.ts';

const limit = (value: unknown) => pod(asking({ 'nvidia.com/gpu': value }));
const found = (severity: string, value: string, field = LIMIT) => [{ severity, field, value }];
const policy = labelled({ mode: 'enforce' });

table('GPU003', {
  'a negative count is an error without a policy': { pod: limit(-1), want: found('error', '-1') },
  'a negative fraction is an error': { pod: limit('-500m'), want: found('error', '-500m') },
  'a negative request alone is found there': {
    pod: pod(asking({}, { 'nvidia.com/gpu': -2 })),
    want: found('error', '-2', 'spec.containers[0].resources.requests[nvidia.com/gpu]'),
  },
  'zero is in range': { pod: limit(0), want: [] },
  'minus zero is zero': { pod: limit('-0'), want: [] },
  'the largest int32 is in range': { pod: limit(2147483647), policy, want: [] },
  'one more is an error where a policy governs': { pod: limit(2147483648), policy, want: found('error', '2147483648') },
  'and a warning elsewhere, since the API server takes it': { pod: limit('2G'), want: [] },
  'values that overflow the API server are a warning': { pod: limit('1e19'), want: found('warning', '1e19') },
  '2^63 is a warning': { pod: limit('8Ei'), want: found('warning', '8Ei') },
  'an endless number is cut': { pod: limit('9'.repeat(9000)), want: found('warning', `${'9'.repeat(40)}...`) },
  'a suffix beyond counting answers at once': {
    pod: limit('1e2147483647'),
    policy,
    want: found('error', '1e2147483647'),
  },
});
