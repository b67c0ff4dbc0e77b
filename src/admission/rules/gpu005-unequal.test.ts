import { asking, pod, table } from './testing.ts';

const REQUEST = 'spec.containers[0].resources.requests[nvidia.com/gpu]';
const both = (limit: unknown, request: unknown) =>
  pod(asking({ 'nvidia.com/gpu': limit }, { 'nvidia.com/gpu': request }));

table('GPU005', {
  'a smaller request is refused': { pod: both(8, 6), want: [{ severity: 'error', field: REQUEST, value: '6' }] },
  'a larger request is refused': { pod: both(1, 2), want: [{ severity: 'error', field: REQUEST, value: '2' }] },
  'zero beside one is refused': { pod: both(1, 0), want: [{ severity: 'error', field: REQUEST, value: '0' }] },
  'fractions that differ are refused': {
    pod: both('0.5', '0.25'),
    want: [{ severity: 'error', field: REQUEST, value: '0.25' }],
  },
  'other spellings of the same value are equal': { pod: both('1000m', 1), want: [] },
  'an exponent is equal to its number': { pod: both('1e3', '1k'), want: [] },
  'values that differ below a milli are equal to the API server': { pod: both('1', '0.9999999'), want: [] },
  'a value that is no quantity is told by GPU001 alone': { pod: both('one', 1), want: [] },
});
