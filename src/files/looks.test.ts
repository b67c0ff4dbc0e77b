import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { lookAgainAndAgain } from './looks.ts';

const INTERVAL_MS = 1000;
let stop: (() => void) | undefined;
beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  stop?.();
  vi.useRealTimers();
});

/** Looks that the test ends one by one, and the faults that were told. */
function looks() {
  const faults: string[] = [];
  const under: PromiseWithResolvers<void>[] = [];
  const look = () => {
    const one = Promise.withResolvers<void>();
    under.push(one);
    return one.promise;
  };
  const looking = lookAgainAndAgain(look, { intervalMs: INTERVAL_MS, onFault: ({ message }) => faults.push(message) });
  stop = looking.stop;
  const end = async (fault?: string) => {
    const one = under.pop();
    if (fault === undefined) one?.resolve();
    else one?.reject(new Error(fault));
    await vi.advanceTimersByTimeAsync(0);
  };
  /** A look by time that ends so. */
  const next = async (fault?: string) => {
    await vi.advanceTimersByTimeAsync(INTERVAL_MS);
    await end(fault);
  };
  return { faults, under, end, next, lookNow: looking.lookNow };
}

it('a fault is told when it has lasted for two looks, once, until a look is well again or another fault comes', async () => {
  const { faults, next } = looks();
  for (const fault of ['cut short', 'cut short', 'cut short', 'expired', undefined, 'expired', 'expired']) {
    await next(fault);
  }
  expect(faults).toEqual(['cut short', 'expired', 'expired']);
});

it('what was read amid a change, and is well at the next look, is no fault', async () => {
  const { faults, next, lookNow, end } = looks();
  for (const fault of ['cut short', undefined, 'cut short']) await next(fault);
  lookNow();
  await end();
  await next('cut short');
  expect(faults).toEqual([]);
});

it('looks that follow changes at once tell nothing, however many: the files may be in the midst of them', async () => {
  const { faults, next, lookNow, end } = looks();
  for (let change = 0; change < 3; change += 1) {
    lookNow();
    await end('cut short');
  }
  await next('cut short');
  lookNow();
  await end('cut short');
  expect(faults).toEqual([]);
  await next('cut short');
  expect(faults).toEqual(['cut short']);
});

it('no look begins while another is under way', async () => {
  const { under, lookNow, end } = looks();
  lookNow();
  lookNow();
  await vi.advanceTimersByTimeAsync(INTERVAL_MS);
  expect(under).toHaveLength(1);
  await end();
  lookNow();
  expect(under).toHaveLength(1);
});
