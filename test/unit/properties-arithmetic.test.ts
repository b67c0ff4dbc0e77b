import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { evaluate } from '../../src/admission/evaluate.ts';
import { NO_POLICY } from '../../src/policy/policy.ts';
import { apiServerOnGpus, type Exception, exceptionsOf } from './arbitrary-apiserver.ts';
import { arithmeticPod, type Json } from './arbitrary-pod.ts';
import { RUNS, TIMEOUT, withDefaults } from './arbitrary-review.ts';
import { EXTRA_GPU } from './arbitrary-world.ts';

/** What gpugate refuses in every mode, since the API server refuses it anyway. */
function gpugateOnGpus(pod: unknown): 'refused' | 'accepted' {
  const { findings } = evaluate({ pod, path: [] }, NO_POLICY, {
    nodes: [],
    gpuResources: [EXTRA_GPU],
  });
  return findings.some((finding) => finding.severity === 'error') ? 'refused' : 'accepted';
}

function podWith(limits: Json, requests?: Json): unknown {
  const resources = { limits, ...(requests ? { requests } : {}) };
  return { metadata: {}, spec: { containers: [{ name: 'c', resources }] } };
}

describe('GPU arithmetic', { timeout: TIMEOUT }, () => {
  it('is that of the API server, but for the exceptions of docs/quantities.md', () => {
    let accepted = 0;
    fc.assert(
      fc.property(arithmeticPod, (pod) => {
        const real = apiServerOnGpus(pod);
        if (real === 'accepted') accepted += 1;
        if (exceptionsOf(pod).size > 0) return;
        expect(gpugateOnGpus(withDefaults(pod))).toBe(real === 'accepted' ? 'accepted' : 'refused');
      }),
      { numRuns: RUNS * 4 },
    );
    expect(accepted).toBeGreaterThan(RUNS / 2);
  });

  it('is never laxer: what the API server refuses for its counts is refused with an explanation', () => {
    fc.assert(
      fc.property(arithmeticPod, (pod) => {
        if (apiServerOnGpus(pod) !== 'refused') return;
        // Beyond 64 bits the API server's own arithmetic overflows, and sometimes into a refusal.
        if (exceptionsOf(pod).has('beyond 64 bits')) return;
        expect(gpugateOnGpus(withDefaults(pod))).toBe('refused');
      }),
      { numRuns: RUNS * 4 },
    );
  });

  it.each<[text: unknown, exception: Exception, apiServer: string, gpugate: string]>([
    ['999999999n', 'below a milli', 'accepted', 'refused'],
    ['0.9999', 'below a milli', 'accepted', 'refused'],
    ['1.9999999', 'below a milli', 'accepted', 'refused'],
    ['1e-10', 'below a milli', 'refused', 'refused'],
    ['9223372036854775807', 'beyond 64 bits', 'accepted', 'accepted'],
    ['9223372036854775808', 'beyond 64 bits', 'accepted', 'accepted'],
    ['9223372036854776', 'beyond 64 bits', 'refused', 'accepted'],
    ['10000000000000000.5', 'beyond 64 bits', 'refused', 'refused'],
    [null, 'null', 'accepted', 'refused'],
  ])('%j is an exception: %s', (text, exception, apiServer, gpugate) => {
    const pod = podWith({ 'nvidia.com/gpu': text });
    expect([...exceptionsOf(pod)]).toContain(exception);
    expect([apiServerOnGpus(pod), gpugateOnGpus(withDefaults(pod))]).toEqual([apiServer, gpugate]);
  });
});
