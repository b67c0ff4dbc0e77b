import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import type { Census } from '../policy/census.ts';
import { LONGEST_PROBLEM, MOST_NAMES, type PolicyStatus } from '../policy/status.ts';
import { isBroken } from '../policy/stored.ts';
import { DEFAULT_BACKOFF, delayAfter } from './backoff.ts';
import type { ClusterPolicies, StoredPolicy } from './policies.ts';
import type { WatchLog } from './watch.ts';

export interface StatusOptions {
  readonly policies: ClusterPolicies;
  /** What there is to tell; undefined while it is not known. The same object as long as nothing has changed. */
  readonly census: () => Census | undefined;
  readonly log: WatchLog;
  readonly timing?: Partial<StatusTiming>;
}

/** Times in milliseconds, for tests to shorten. */
export interface StatusTiming {
  /** Between two looks, plus up to as much again, so that replicas seldom write the same at once. */
  readonly everyMs: number;
  /** What this replica has written and another one has changed back is not written again before this time. */
  readonly disputeMs: number;
}

const DEFAULT_TIMING: StatusTiming = { everyMs: 1000, disputeMs: 60_000 };
const WRITE_MS = 5000;
/** At most this many are written at one look; the others wait for the next. */
const MOST_WRITES = 10;

/**
 * Keeps the status of each GpuPolicy true, until `close`. Every replica does; the one that first sees a difference writes, and a write
 * that met a newer object is dropped, since the watch brings that one. Reviews never wait for it, and a failure is only logged.
 */
export function keepStatus(options: StatusOptions): { close(): Promise<void> } {
  const { policies, census, log } = options;
  const timing = { ...DEFAULT_TIMING, ...options.timing };
  const closing = new AbortController();
  const written = new Map<string, { readonly status: PolicyStatus; readonly at: number }>();
  let seen: readonly [Census, readonly StoredPolicy[]] | undefined;
  let failures = 0;

  /** True when everything is as it should be. */
  async function look(counted: Census, stored: readonly StoredPolicy[]): Promise<boolean> {
    let left = MOST_WRITES;
    let all = true;
    for (const each of stored) {
      const { name } = each.policy.metadata;
      const status = statusOf(each, counted);
      if (sameStatus(status, each.status)) continue;
      const before = written.get(name);
      const disputed = before && sameStatus(before.status, status) && Date.now() - before.at < timing.disputeMs;
      if (disputed || left === 0) {
        all = false;
        continue;
      }
      left -= 1;
      const signal = AbortSignal.any([closing.signal, AbortSignal.timeout(WRITE_MS)]);
      if (await policies.writeStatus(each, status, signal)) written.set(name, { status, at: Date.now() });
    }
    return all;
  }

  async function run(): Promise<void> {
    while (!closing.signal.aborted) {
      const pause = failures > 0 ? delayAfter(failures, DEFAULT_BACKOFF) : 0;
      const delayMs = Math.max(pause, timing.everyMs * (1 + Math.random()));
      await sleep(delayMs, undefined, { signal: closing.signal }).catch(() => {});
      const counted = census();
      const stored = policies.stored();
      if (closing.signal.aborted || !counted || (seen?.[0] === counted && seen[1] === stored)) continue;
      try {
        seen = (await look(counted, stored)) ? [counted, stored] : undefined;
        failures = 0;
      } catch (error) {
        if (closing.signal.aborted) return;
        failures += 1;
        if (failures === 1)
          log.warn({ reason: (error as Error).message }, 'the status of a GpuPolicy cannot be written');
      }
    }
  }

  const running = run();
  return {
    async close() {
      closing.abort();
      await running;
    },
  };
}

/** What the status of a policy should be. Only the time of a condition that changes is of now. */
function statusOf({ policy, generation, status }: StoredPolicy, census: Census, now = new Date()): PolicyStatus {
  const { name } = policy.metadata;
  const namespaces = census.served.get(name) ?? [];
  const problem = census.problems.get(name)?.slice(0, LONGEST_PROBLEM);
  const broken = isBroken(policy);
  const ready = broken ? 'False' : 'True';
  const before = status.conditions?.find(({ type }) => type === 'Ready');
  return {
    observedGeneration: generation,
    namespaces: namespaces.length,
    ...(namespaces.length > 0 ? { namespaceNames: namespaces.slice(0, MOST_NAMES) } : {}),
    ...(problem === undefined ? {} : { lastProblem: problem }),
    conditions: [
      {
        type: 'Ready',
        status: ready,
        observedGeneration: generation,
        lastTransitionTime: before?.status === ready ? before.lastTransitionTime : `${now.toISOString().slice(0, 19)}Z`,
        reason: broken ? 'NotUnderstood' : 'Understood',
        message: broken ? (problem ?? '') : 'pods are judged by it',
      },
    ],
  };
}

/** Whether two say the same, whenever a condition came to be. */
function sameStatus(a: PolicyStatus, b: PolicyStatus): boolean {
  const timeless = ({ conditions = [], ...rest }: PolicyStatus) => ({
    ...rest,
    conditions: conditions.map(({ lastTransitionTime: _, ...condition }) => condition),
  });
  return isDeepStrictEqual(timeless(a), timeless(b));
}
