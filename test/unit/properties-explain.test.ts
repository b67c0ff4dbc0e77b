import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { NodeState } from '../../src/cluster/node-state.ts';
import { explain, reasonsOf } from '../../src/explain/explain.ts';
import { LAYERS } from '../../src/explain/result.ts';
import { anInput } from '../../src/explain/testing.ts';
import { headline } from '../../src/report/explanation.ts';

const resource = fc.constantFrom(
  'nvidia.com/gpu',
  'nvidia.com/gpu.shared',
  'nvidia.com/mig-1g.10gb',
  'nvidia.com/gpus',
  'cpu',
);
const units = fc.constantFrom('0', '1', '2', '8', '500m', 'x');
const limits = fc.dictionary(resource, units, { maxKeys: 3 });
const name = fc.constantFrom('a', 'b', 'c');
const labels = fc.dictionary(
  fc.constantFrom('zone', 'nvidia.com/gpu.product', 'nvidia.com/mig.config', 'nvidia.com/mig.config.state'),
  fc.constantFrom('x', 'y', 'pending', 'failed', 'success', 'all-1g.10gb'),
);
const taint = fc.record({
  key: fc.constantFrom('nvidia.com/gpu', 'node.kubernetes.io/not-ready', 'dedicated'),
  effect: fc.constantFrom('NoSchedule', 'NoExecute', 'PreferNoSchedule'),
});

const node: fc.Arbitrary<NodeState> = fc.record({
  name,
  labels,
  allocatable: limits,
  capacity: limits,
  taints: fc.array(taint, { maxLength: 2 }),
  unschedulable: fc.boolean(),
  conditions: fc.constant([]),
});

const holder = fc.record({
  namespace: name,
  name,
  node: name,
  units: fc.dictionary(resource, fc.bigInt(1n, 8n), { maxKeys: 2 }).map((each) => new Map(Object.entries(each))),
});

const spec = fc.record(
  {
    containers: fc.array(
      fc.record({ name, resources: fc.record({ limits, requests: limits }, { requiredKeys: [] }) }),
      { maxLength: 2 },
    ),
    nodeSelector: labels,
    tolerations: fc.array(taint, { maxLength: 1 }),
    runtimeClassName: fc.constantFrom('nvidia', 'absent'),
    schedulingGates: fc.array(fc.record({ name }), { maxLength: 1 }),
    schedulerName: fc.constantFrom('default-scheduler', 'volcano'),
  },
  { requiredKeys: ['containers'] },
);

const message = fc.constantFrom(
  '',
  '0/3 nodes are available: 1 Insufficient nvidia.com/gpu, 2 node(s) were unschedulable.',
  '0/3 nodes are available: 3 Insufficient cpu. preemption: 0/3 nodes are available.',
);

const world = fc.record({
  nodes: fc.option(fc.uniqueArray(node, { maxLength: 3, selector: (each) => each.name }), { nil: undefined }),
  holders: fc.option(fc.array(holder, { maxLength: 4 }), { nil: undefined }),
  holdersOfNamespaceOnly: fc.boolean(),
  runtimeClasses: fc.constantFrom(undefined, new Set(['nvidia'])),
  deviceClassResources: fc.constantFrom(undefined, new Set(['nvidia.com/gpu'])),
});

describe('explain', () => {
  it('invents no reason for a pod that runs, whatever the cluster is like', () => {
    fc.assert(
      fc.property(spec, world, name, (pod, around, on) => {
        const running = { spec: { ...pod, nodeName: on }, status: { phase: 'Running' } };
        const explanation = explain(anInput({ ...around, pod: running }));
        expect(explanation.state).toBe('running');
        expect(reasonsOf(explanation)).toEqual([]);
        expect(explanation.layers.filter(({ mark }) => mark === 'problem')).toEqual([]);
      }),
    );
  });

  it('has something to say where no node can take the pod, and nothing of nodes where one can', () => {
    fc.assert(
      fc.property(limits, world, (asked, around) => {
        const pod = {
          spec: { containers: [{ name: 'c', resources: { limits: asked, requests: asked } }] },
          status: { phase: 'Pending', conditions: [{ type: 'PodScheduled', status: 'False', message: '' }] },
        };
        const free = {
          name: 'free',
          labels: {},
          allocatable: FREE,
          capacity: FREE,
          taints: [],
          unschedulable: false,
          conditions: [],
        };
        const nodes = [...(around.nodes ?? []), free];
        const codes = reasonsOf(explain(anInput({ ...around, pod, nodes }))).map(({ code }) => code);
        // The free node has everything, so that only a name that no plugin uses, or no scheduler, is left.
        expect(codes.filter((code) => code !== 'misspelt-name')).toEqual([]);
        const none = reasonsOf(explain(anInput({ ...around, pod, nodes: [], deviceClassResources: undefined })));
        expect(none.length).toBeGreaterThan(0);
      }),
    );
  });

  it('ticks nothing that is not there, and promises no more than was seen, in whatever state', () => {
    const phase = fc.constantFrom(undefined, 'Pending', 'Running', 'Succeeded', 'Failed');
    const claims = fc.constantFrom(
      undefined,
      [{ name: 'x', resourceClaimName: 'there' }],
      [{ name: 'x', resourceClaimName: 'nope' }],
    );
    const scheduled = fc.option(message, { nil: undefined });
    const state = fc.record({
      phase,
      on: fc.option(name, { nil: undefined }),
      resourceClaims: claims,
      scheduled,
      exists: fc.boolean(),
    });
    fc.assert(
      fc.property(spec, world, state, (pod, around, { phase: is, on, resourceClaims, scheduled: said, exists }) => {
        const conditions = said === undefined ? [] : [{ type: 'PodScheduled', status: 'False', message: said }];
        const object = { spec: { ...pod, nodeName: on, resourceClaims }, status: { phase: is, conditions } };
        const explanation = explain(anInput({ ...around, pod: object, exists, claims: new Set(['there']) }));
        const first = headline(explanation);
        for (const { mark, seen } of explanation.layers) {
          if (mark === 'ok')
            expect(seen.join('\n')).not.toMatch(/^(no node|there is no node)| does not advertise | to 0 of /m);
        }
        expect(first).not.toContain('undefined');
        if (/ fit;/.test(first)) expect([said === undefined, resourceClaims]).toEqual([false, undefined]);
        if (exists && on !== undefined && said === undefined) expect(first).not.toMatch(/ is starting\.$|can't start/);
        if (explanation.state === 'waiting' && resourceClaims?.[0]?.resourceClaimName === 'nope') {
          expect(first).toContain('reason');
        }
      }),
      { numRuns: 500 },
    );
  });

  it('always goes through every layer, each reason with a next command, for any pod at all', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.anything(),
          fc.record({
            spec,
            status: fc.record({
              conditions: message.map((text) => [{ type: 'PodScheduled', status: 'False', message: text }]),
            }),
          }),
        ),
        world,
        fc.boolean(),
        (pod, around, exists) => {
          const explanation = explain(anInput({ ...around, pod, exists }));
          expect(explanation.layers.map(({ name: layer }) => layer)).toEqual([...LAYERS]);
          for (const { next, text } of reasonsOf(explanation)) expect([next, text]).not.toContain('');
        },
      ),
    );
  });
});

const FREE = { 'nvidia.com/gpu': '64', 'nvidia.com/gpu.shared': '64', 'nvidia.com/mig-1g.10gb': '64', cpu: '64' };
