import { describe, expect, it } from 'vitest';
import { readOriginals, writeOriginals } from './originals.ts';
import { asking, container, governed, judge, labelled, ONE_GPU, pod, sharedNode, type World } from './rules/testing.ts';

const MIG = labelled({ 'mig-profile': '1g.10gb' });

/** The annotations that a verdict writes. */
function written(judged: unknown, world: World): Readonly<Record<string, string>> {
  const { changes } = judge(judged, world);
  return Object.fromEntries(
    changes.flatMap((made) => (made.type === 'set-annotation' ? [[made.name, made.value]] : [])),
  );
}
const original = (text: string) => ({ 'gpugate.dev/original': text });

describe('annotations of a pod', () => {
  it.each<[string, unknown, World, object]>([
    [
      'a rename tells the policy and the requests before',
      pod(asking(ONE_GPU)),
      { policy: MIG },
      { 'gpugate.dev/policy': 'namespace labels', ...original('{"train":{"nvidia.com/gpu":"1"}}') },
    ],
    [
      'a cap tells its basis',
      pod(asking(ONE_GPU)),
      { policy: governed({ sharing: 'time-slicing', memoryCap: { amount: 'auto' } }), nodes: [sharedNode(16384, 4)] },
      { 'gpugate.dev/policy': 'tested; memory cap 3584Mi (auto: 16384Mi / 4 - 512Mi, GPU-16384)' },
    ],
    [
      'a quantity is its own basis',
      pod(asking(ONE_GPU)),
      { policy: governed({ sharing: 'time-slicing', memoryCap: { amount: '4096Mi' } }), nodes: [sharedNode(16384, 4)] },
      { 'gpugate.dev/policy': 'tested; memory cap 4096Mi' },
    ],
    [
      'a percentage without a node has no MiB',
      pod(asking(ONE_GPU)),
      { policy: governed({ sharing: 'time-slicing', memoryCap: { amount: '12.5%' } }) },
      { 'gpugate.dev/policy': 'tested; memory cap 12.5%' },
    ],
    ['nothing is written beside no change', pod(asking({ 'nvidia.com/mig-1g.10gb': 1 })), { policy: MIG }, {}],
    ['nothing is written without a policy', pod(asking(ONE_GPU, {})), {}, {}],
    [
      'what stands is not written again',
      pod(
        [asking({ 'nvidia.com/mig-1g.10gb': 1 }), asking(ONE_GPU)],
        {},
        { 'gpugate.dev/policy': 'namespace labels', ...original('{"train":{"nvidia.com/gpu":"1"}}') },
      ),
      { policy: MIG },
      {},
    ],
    [
      'a later container joins those before',
      pod(asking(ONE_GPU), {}, original('{"a":{"nvidia.com/gpu":"2"}}')),
      { policy: MIG },
      {
        'gpugate.dev/policy': 'namespace labels',
        ...original('{"a":{"nvidia.com/gpu":"2"},"train":{"nvidia.com/gpu":"1"}}'),
      },
    ],
    [
      'an ephemeral container lets nothing but itself change',
      pod(container('app'), { ephemeralContainers: [container('debug')] }),
      { policy: labelled({ 'visible-devices': 'void' }), before: pod(container('app')) },
      {},
    ],
  ])('%s', (_, judged, world, want) => {
    expect(written(judged, world)).toEqual(want);
  });
});

describe('the requests before a rename', () => {
  const read = (text: string) => readOriginals(new Map([['gpugate.dev/original', text]]));

  it('are written in one order, whatever the order of the containers', () => {
    const a = new Map([
      [
        'b',
        new Map([
          ['y', '1'],
          ['x', '2'],
        ]),
      ],
      ['a', new Map([['x', '1']])],
    ]);
    expect(writeOriginals(a)).toBe('{"a":{"x":"1"},"b":{"x":"2","y":"1"}}');
    expect(read(writeOriginals(a))).toEqual(new Map([...a].reverse()));
  });

  it.each(['', 'x', '[]', '"x"', 'null', '1', '{"a":1}', '{"a":[]}', '{"a":{"x":1}}'])('%s tells nothing', (text) => {
    expect([...read(text).values()].flatMap((quantities) => [...quantities])).toEqual([]);
  });

  it('may have a container of any name', () => {
    expect(read('{"__proto__":{"nvidia.com/gpu":"1"}}').get('__proto__')).toEqual(new Map([['nvidia.com/gpu', '1']]));
    expect(read('{}').get('constructor')).toBeUndefined();
  });
});
