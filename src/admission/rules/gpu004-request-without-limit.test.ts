import { asking, container, pod, table } from './testing.ts';

const REQUEST = 'spec.containers[0].resources.requests[nvidia.com/gpu]';
const onlyRequest = (value: unknown) => pod(asking({}, { 'nvidia.com/gpu': value }));

table('GPU004', {
  'a request alone is refused': { pod: onlyRequest(2), want: [{ severity: 'error', field: REQUEST, value: '2' }] },
  'a request of zero alone is refused, as the API server does': {
    pod: onlyRequest(0),
    want: [{ severity: 'error', field: REQUEST, value: '0' }],
  },
  'a limit of another resource does not count': {
    pod: pod(asking({ 'nvidia.com/mig-1g.10gb': 1 }, { 'nvidia.com/gpu': 1, 'nvidia.com/mig-1g.10gb': 1 })),
    want: [{ severity: 'error', field: REQUEST, value: '1' }],
  },
  'a limit alone is fine': { pod: pod(asking({ 'nvidia.com/gpu': 1 }, {})), want: [] },
  'limits may be missing altogether': {
    pod: pod(container('train', { resources: { requests: { 'nvidia.com/gpu': 1 } } })),
    want: [{ severity: 'error', field: REQUEST, value: '1' }],
  },
});
