import { expect, it } from 'vitest';
import { decide } from '../decide.ts';
import {
  asking,
  container,
  governed,
  judge,
  labelled,
  ONE_GPU,
  pod,
  sharedNode,
  type World,
  withEnv,
} from './testing.ts';

const cap = governed({ sharing: 'time-slicing', memoryCap: { amount: 'auto', frameworks: ['paddle'] } });
const nodes = [sharedNode(16384, 4)];
const labels = (mode: string) => labelled({ 'mig-profile': '1g.10gb', mode });

const cases: Readonly<Record<string, World & { pod: unknown; want: readonly string[] }>> = {
  'a missing rename is refused': { pod: pod(asking(ONE_GPU)), policy: labels('enforce'), want: ['spec.containers[0]'] },
  'each container is told once': {
    pod: pod([asking(ONE_GPU), container('web'), asking(ONE_GPU)]),
    policy: labels('enforce'),
    want: ['spec.containers[0]', 'spec.containers[2]'],
  },
  'a missing void is refused': {
    pod: pod(container('web')),
    policy: labelled({ 'visible-devices': 'void' }),
    want: ['spec.containers[0]'],
  },
  'a pod without any cap is refused': { pod: pod(asking(ONE_GPU)), policy: cap, nodes, want: ['spec.containers[0]'] },
  'one cap of the policy is enough': {
    pod: pod(withEnv({ FLAGS_gpu_memory_limit_mb: '1024' })),
    policy: cap,
    nodes,
    want: [],
  },
  'a cap above the share is refused': {
    pod: pod(withEnv({ FLAGS_gpu_memory_limit_mb: '9999' })),
    policy: cap,
    nodes,
    want: ['spec.containers[0]'],
  },
  'a cap that was computed for another node is not': {
    pod: pod(
      withEnv({ FLAGS_gpu_memory_limit_mb: '7680', GPU_MEMORY_LIMIT_MIB: '7680', GPU_MEMORY_FRACTION: '0.093' }),
    ),
    policy: cap,
    nodes: [...nodes, sharedNode(81920, 10)],
    want: [],
  },
  'a missing default of requests is the matter of the API server': {
    pod: pod(asking(ONE_GPU, {})),
    policy: labelled({ mode: 'enforce' }),
    want: [],
  },
  'warn mode requires nothing': { pod: pod(asking(ONE_GPU)), policy: labels('warn'), want: [] },
  'audit mode requires nothing': { pod: pod(asking(ONE_GPU)), policy: labels('audit'), want: [] },
};

it.each(Object.entries(cases))('GPU180 %s', (_, { pod: judged, want, ...world }) => {
  const { findings, allowed } = decide(judge(judged, world), world.policy ?? labelled({}), 'validate');
  expect(findings.filter(({ code }) => code === 'GPU180').map(({ field }) => field)).toEqual(want);
  expect(allowed).toBe(want.length === 0);
});
